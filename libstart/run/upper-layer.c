/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/run/upper-layer.h"

/* The mode and owner of `name` in the uppermost layer that has it; false where none has. */
static bool find_in_layers(char *const *layers, const char *name, struct stat *ret) {
        for (size_t i = 0; layers[i]; i++) {
                g_autofree char *path = g_build_filename(layers[i], name, NULL);

                if (lstat(path, ret) == 0)
                        return true;
        }
        return false;
}

/* The process has umask 0 (start.c), so that a mode is the mode. */
static bool make_directory(const char *path, const struct stat *st, GError **error) {
        if (mkdir(path, st->st_mode & 07777) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s'", path);
        if ((st->st_uid != 0 || st->st_gid != 0) && lchown(path, st->st_uid, st->st_gid) < 0)
                return error_set_errno(error, errno, "Cannot change the owner of '%s'", path);
        return true;
}

bool upper_layer_create(const char *path, char *const *layers, GError **error) {
        struct stat st;

        if (lstat(layers[0], &st) < 0)
                return error_set_errno(error, errno, "Cannot find the layer '%s' of the image", layers[0]);
        return make_directory(path, &st, error);
}

bool upper_layer_add(const char *path, char *const *layers, const char *directory, const char *name,
                     const char *content, const char *target, GError **error) {
        g_autofree char *parent = g_build_filename(path, directory, NULL);
        g_autofree char *file = g_build_filename(parent, name, NULL);
        g_autofree char *relative = g_build_filename(directory, name, NULL);
        struct stat existing, st = { .st_mode = S_IFDIR | 0755 };
        _cleanup_close_ int fd = -1;

        if (find_in_layers(layers, directory, &st) && !S_ISDIR(st.st_mode) && !S_ISCHR(st.st_mode))
                return true;
        if (S_ISCHR(st.st_mode)) /* a whiteout: the image has removed it */
                st = (struct stat) { .st_mode = S_IFDIR | 0755 };
        if (!make_directory(parent, &st, error))
                return false;
        if (target && find_in_layers(layers, relative, &existing))
                return true;
        if (target)
                return symlink(target, file) == 0 || error_set_errno(error, errno, "Cannot make '%s'", file);
        fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0 || write(fd, content, strlen(content)) != (ssize_t) strlen(content))
                return error_set_errno(error, errno, "Cannot write '%s'", file);
        return true;
}
