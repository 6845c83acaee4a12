/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/emit.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"

/* systemd ignores it: the suffix is no unit type. */
static char *temporary_name(const char *path) {
        return g_strdup_printf("%s.%d.tmp", path, (int) getpid());
}

static bool write_all(int fd, const GString *text) {
        for (size_t done = 0; done < text->len;) {
                ssize_t n = write(fd, text->str + done, text->len - done);

                if (n < 0 && errno != EINTR)
                        return false;
                if (n > 0)
                        done += (size_t) n;
        }
        return true;
}

/* The file at `path` is open as fd, or that has failed; its name in problems is `name`. */
static bool write_text(int directory_fd, int fd, const char *path, const char *name, const GString *text,
                       GError **error) {
        if (fd >= 0 && write_all(fd, text))
                return true;
        (void) error_set_errno(error, errno, "writing '%s'", name);
        if (fd >= 0)
                (void) unlinkat(directory_fd, path, 0);
        return false;
}

static bool put_in_place(int directory_fd, const char *temporary, const char *path, GError **error) {
        if (renameat(directory_fd, temporary, directory_fd, path) == 0)
                return true;
        (void) error_set_errno(error, errno, "writing '%s'", path);
        (void) unlinkat(directory_fd, temporary, 0);
        return false;
}

static bool make_parents(int directory_fd, const char *path, GError **error) {
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
                g_autofree char *parent = g_strndup(path, (size_t) (slash - path));

                if (mkdirat(directory_fd, parent, 0755) < 0 && errno != EEXIST)
                        return error_set_errno(error, errno, "making '%s'", parent);
        }
        return true;
}

bool emit_file(int directory_fd, const char *name, mode_t mode, const GString *text, GError **error) {
        const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
        g_autofree char *temporary = temporary_name(name);
        _cleanup_close_ int fd = openat(directory_fd, temporary, flags, mode);

        if (fd < 0 && errno == ENOENT && strchr(name, '/')) {
                if (!make_parents(directory_fd, name, error))
                        return false;
                fd = openat(directory_fd, temporary, flags, mode);
        }
        return write_text(directory_fd, fd, temporary, name, text, error) &&
               put_in_place(directory_fd, temporary, name, error);
}

bool emit_unit(int directory_fd, const char *name, mode_t mode, const GString *text, GError **error) {
        const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
        _cleanup_close_ int fd = openat(directory_fd, name, flags, mode);

        if (fd < 0 && errno == EEXIST && unlinkat(directory_fd, name, 0) == 0)
                fd = openat(directory_fd, name, flags, mode);
        return write_text(directory_fd, fd, name, name, text, error);
}

static bool is_same_link(int directory_fd, const char *path, const char *target) {
        char found[PATH_MAX];
        ssize_t n = readlinkat(directory_fd, path, found, sizeof found);

        return n == (ssize_t) strlen(target) && memcmp(found, target, (size_t) n) == 0;
}

/* symlink(2) is atomic by itself. */
bool emit_link(int directory_fd, const char *path, const char *target, GError **error) {
        int r = symlinkat(target, directory_fd, path);

        if (r < 0 && errno == ENOENT) {
                if (!make_parents(directory_fd, path, error))
                        return false;
                r = symlinkat(target, directory_fd, path);
        }
        if (r == 0)
                return true;
        if (errno != EEXIST)
                return error_set_errno(error, errno, "linking '%s'", path);
        if (is_same_link(directory_fd, path, target))
                return true;
        return error_set(error, KT_ERROR_FAILED, "linking '%s': another file has taken this name", path);
}
