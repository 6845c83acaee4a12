/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "generator/tree.h"
#include "libstart/base/error.h"
#include "libstart/base/resolve.h"

bool tree_open(Tree *tree, const char *directory, GError **error) {
        tree->is_foreign = directory;
        tree->fd = open(directory ? directory : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return tree->fd >= 0 || error_set_errno(error, errno, "Cannot open '%s'", directory ? directory : "/");
}

void tree_close(Tree *tree) {
        close(tree->fd);
        tree->fd = -1;
}

int tree_open_path(const Tree *tree, const char *path, int flags) {
        if (!tree->is_foreign)
                return open(path, flags | O_CLOEXEC);
        return resolve_open(tree->fd, path, flags, 0, RESOLVE_IN_ROOT);
}

int tree_open_at(const Tree *tree, int directory_fd, const char *directory, const char *name, bool is_link,
                 int flags) {
        if (!tree->is_foreign || !is_link)
                return openat(directory_fd, name, flags | O_CLOEXEC);

        g_autofree char *path = g_build_filename(directory, name, NULL);
        return tree_open_path(tree, path, flags);
}

static bool is_null_device(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

bool tree_read(int fd, char **ret_text, size_t *ret_length, mode_t *readers, GError **error) {
        g_autofree char *text = NULL;
        size_t length = 0, size;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "cannot be read");
        if (S_ISDIR(st.st_mode))
                return error_set(error, KT_ERROR_USAGE, "is a directory, not a file");
        if (!S_ISREG(st.st_mode) && !is_null_device(&st))
                return error_set(error, KT_ERROR_USAGE, "is not a regular file");
        if (st.st_size > G_MAXINT32)
                return error_set(error, KT_ERROR_USAGE, "is too large");
        if (readers)
                *readers &= st.st_mode;

        size = S_ISREG(st.st_mode) ? (size_t) st.st_size : 0;
        text = g_malloc(size + 1);
        while (length < size) {
                ssize_t n = read(fd, text + length, size - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set_errno(error, errno, "cannot be read");
                if (n == 0)
                        break;
                length += (size_t) n;
        }
        text[length] = '\0';
        *ret_text = g_steal_pointer(&text);
        *ret_length = length;
        return true;
}

bool tree_is_null_link(int directory_fd, const char *name) {
        char target[16];
        ssize_t n = readlinkat(directory_fd, name, target, sizeof target);

        return n == (ssize_t) strlen("/dev/null") && memcmp(target, "/dev/null", (size_t) n) == 0;
}
