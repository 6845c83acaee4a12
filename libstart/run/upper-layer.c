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

bool upper_layer_image_has(char *const *layers, const char *name) {
        struct stat st;

        return find_in_layers(layers, name, &st);
}

static bool make_directory(const char *path, const struct stat *st, GError **error) {
        if (mkdir(path, st->st_mode & 07777) < 0)
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

bool upper_layer_add_directory(const char *path, char *const *layers, const char *name, int *ret_fd, GError **error) {
        g_autofree char *directory = g_build_filename(path, name, NULL);
        struct stat st = { 0 };

        *ret_fd = -1;
        if (!find_in_layers(layers, name, &st) || S_ISCHR(st.st_mode)) /* a whiteout: the image has removed it */
                st = (struct stat) { .st_mode = S_IFDIR | 0755 };
        if (!S_ISDIR(st.st_mode))
                return true;
        if (!make_directory(directory, &st, error))
                return false;
        *ret_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return *ret_fd >= 0 || error_set_errno(error, errno, "Cannot open '%s'", directory);
}

bool upper_layer_add_file(int directory_fd, const char *name, const char *content, size_t length, GError **error) {
        _cleanup_close_ int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

        if (fd < 0 || (length > 0 && write(fd, content, length) != (ssize_t) length))
                return error_set_errno(error, errno, "Cannot write '%s' for the container", name);
        return true;
}

bool upper_layer_add_link(int directory_fd, const char *name, const char *target, GError **error) {
        return symlinkat(target, directory_fd, name) == 0 ||
               error_set_errno(error, errno, "Cannot make the link '%s' for the container", name);
}
