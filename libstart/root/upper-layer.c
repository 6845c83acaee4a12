/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/root/upper-layer.h"

/* The mode and owner of `name`, which is no path, in the uppermost layer that has it; else those of a new one. */
static bool find_in_layers(char *const *layers, const char *name, struct stat *ret, GError **error) {
        int r = -1;

        for (size_t i = 0; r < 0 && layers[i]; i++) {
                g_autofree char *path = g_build_filename(layers[i], name, NULL);

                r = lstat(path, ret);
                if (r < 0 && errno != ENOENT && errno != ENOTDIR)
                        return error_set_errno(error, errno, "Cannot see what '%s' of the image is", path);
        }
        if (r < 0 || S_ISCHR(ret->st_mode)) /* a whiteout: the image has removed it */
                *ret = (struct stat) { .st_mode = S_IFDIR | 0755 };
        return true;
}

/* What it is made with is the ids that whoever makes files has: root's. */
static bool give(int fd, const struct stat *st, const UserNamespace *userns) {
        if (!userns && st->st_uid == 0 && st->st_gid == 0)
                return true;
        return fchownat(fd, "", userns ? user_namespace_uid(userns, st->st_uid) : st->st_uid,
                        userns ? user_namespace_gid(userns, st->st_gid) : st->st_gid, AT_EMPTY_PATH) == 0;
}

static int make_directory(int at, const char *name, const struct stat *st, const UserNamespace *userns,
                          GError **error) {
        _cleanup_close_ int fd = -1;

        if (mkdirat(at, name, st->st_mode & 07777) == 0)
                fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                error_set_errno(error, errno, "Cannot make '%s' for the container%s", name,
                                writable_layer_hint(errno));
        else if (!give(fd, st, userns))
                error_set_errno(error, errno, "Cannot change the owner of '%s' for the container", name);
        else
                return fd_steal(&fd);
        return -1;
}

bool upper_layer_create(WritableLayer *layer, char *const *layers, const UserNamespace *userns, GError **error) {
        static const struct stat work = { .st_mode = S_IFDIR | 0700 };
        struct stat st;

        if (lstat(layers[0], &st) < 0)
                return error_set_errno(error, errno, "Cannot find the layer '%s' of the image", layers[0]);
        layer->upper = make_directory(layer->mount, "upper", &st, userns, error);
        if (layer->upper >= 0)
                layer->work = make_directory(layer->mount, "work", &work, userns, error);
        return layer->work >= 0;
}

bool upper_layer_add_directory(int upper, char *const *layers, const char *name, const UserNamespace *userns,
                               int *ret_fd, GError **error) {
        struct stat st;

        *ret_fd = -1;
        if (!find_in_layers(layers, name, &st, error))
                return false;
        if (!S_ISDIR(st.st_mode))
                return true;
        *ret_fd = make_directory(upper, name, &st, userns, error);
        return *ret_fd >= 0;
}

bool upper_layer_add_file(int directory_fd, const char *name, const char *content, size_t length, GError **error) {
        _cleanup_close_ int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

        if (fd < 0 || !fd_write_all(fd, content, length))
                return error_set_errno(error, errno, "Cannot write '%s' for the container%s", name,
                                       writable_layer_hint(errno));
        return true;
}
