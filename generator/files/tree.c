/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "generator/files/tree.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/config/small-file.h"

#define SIZE_LIMIT ((size_t) 64 << 20)

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

/* NULL if there is no /proc. */
static char *find_path(int fd) {
        g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);

        return g_file_read_link(link, NULL);
}

char *tree_find_directory(const Tree *tree, int fd, const char *path) {
        g_autofree char *found = find_path(fd), *top = tree->is_foreign ? find_path(tree->fd) : NULL;
        size_t length = top && !g_str_equal(top, "/") ? strlen(top) : 0;

        if (!found || found[0] != '/' || (tree->is_foreign && !top) || (length > 0 && !g_str_has_prefix(found, top)))
                return g_strdup(path);
        return g_strdup(found[length] ? found + length : "/");
}

static bool is_null_device(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && stat_is_null(&st);
}

bool tree_read(int fd, char **ret_text, size_t *ret_length, mode_t *readers, GError **error) {
        g_autoptr(GError) problem = NULL;
        struct stat st = { .st_mode = READERS_ALL };

        if (!file_read_fd(fd, "it", SIZE_LIMIT, ret_text, &st, &problem)) {
                if (!is_null_device(fd)) {
                        g_propagate_error(error, g_steal_pointer(&problem));
                        return false;
                }
                *ret_text = g_strdup("");
        }
        if (readers)
                *readers &= st.st_mode;
        *ret_length = (size_t) st.st_size;
        return true;
}

bool tree_is_null_link(int directory_fd, const char *name) {
        char target[16];
        ssize_t n = readlinkat(directory_fd, name, target, sizeof target);

        return n == (ssize_t) strlen("/dev/null") && memcmp(target, "/dev/null", (size_t) n) == 0;
}

bool tree_read_at(const Tree *tree, int directory_fd, const char *directory, const char *name, bool is_link,
                  char **ret_text, size_t *ret_length, mode_t *readers, GError **error) {
        _cleanup_close_ int fd = -1;

        if (is_link && tree_is_null_link(directory_fd, name)) {
                *ret_text = NULL;
                *ret_length = 0;
                return true;
        }
        fd = tree_open_at(tree, directory_fd, directory, name, is_link, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && errno == ENOENT)
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "the link leads nowhere (when units are generated at boot, only what the root file "
                                 "system and /usr hold is there)");
        if (fd < 0)
                return error_set_errno(error, errno, "cannot be opened");
        return tree_read(fd, ret_text, ret_length, readers, error);
}
