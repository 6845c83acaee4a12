/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/unit/writer.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/printable.h"

/* Bytes: the kernel writes a page without looking for signals. */
#define WRITTEN_AT_ONCE 4096

struct Writer {
        const char *directory;
        int fd;              /* of the directory; opened with the first file */
        GPtrArray *problems; /* of char* */
        GPtrArray *names;    /* of char*: what was written; NULL: nobody asks */
        bool exclusive;      /* units replace no other files */
};

Writer *writer_new(const char *directory) {
        Writer *writer = g_new0(Writer, 1);

        writer->directory = directory;
        writer->fd = -1;
        writer->problems = g_ptr_array_new_with_free_func(g_free);
        return writer;
}

GPtrArray *writer_finish(Writer *writer) {
        GPtrArray *problems = writer->problems;

        if (writer->fd >= 0)
                close(writer->fd);
        g_clear_pointer(&writer->names, g_ptr_array_unref);
        g_free(writer);
        return problems;
}

GPtrArray *writer_keep_names(Writer *writer, bool exclusive) {
        writer->names = g_ptr_array_new_with_free_func(g_free);
        writer->exclusive = exclusive;
        return g_ptr_array_ref(writer->names);
}

static void keep_name(Writer *writer, const char *name) {
        if (writer->names)
                g_ptr_array_add(writer->names, g_strdup(name));
}

static void add_problem(Writer *writer, const char *origin, const GError *error) {
        g_ptr_array_add(writer->problems, g_strdup_printf("%s: %s", origin, error->message));
}

/* In a pipe or a file the text is exact. */
static void G_GNUC_PRINTF(1, 2) print(const char *format, ...) {
        g_autofree char *text = NULL, *shown = NULL;
        va_list ap;

        va_start(ap, format);
        text = g_strdup_vprintf(format, ap);
        va_end(ap);
        shown = isatty(STDOUT_FILENO) ? printable_lines(text) : g_strdup(text);
        fputs(shown, stdout);
}

static bool open_directory(Writer *writer, GError **error) {
        if (writer->fd < 0)
                writer->fd = open(writer->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return writer->fd >= 0 || error_set_errno(error, errno, "cannot open '%s'", writer->directory);
}

/* fd is the open file at `path`, or -1 where opening it failed, with errno set. Errors call it `name`. */
static bool write_text(const Writer *writer, int fd, const char *path, const char *name, const GString *text,
                       GError **error) {
        if (fd >= 0 && fd_write_all(fd, text->str, text->len))
                return true;
        (void) error_set_errno(error, errno, "cannot write '%s'", name);
        if (fd >= 0)
                (void) unlinkat(writer->fd, path, 0);
        return false;
}

static bool make_parents(const Writer *writer, const char *path, GError **error) {
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
                g_autofree char *parent = g_strndup(path, (size_t) (slash - path));

                if (mkdirat(writer->fd, parent, 0755) < 0 && errno != EEXIST)
                        return error_set_errno(error, errno, "cannot make '%s'", parent);
        }
        return true;
}

/* systemd ignores the temporary file: its suffix is no unit type. rename_flags: of renameat2(2). */
static bool write_file(Writer *writer, const char *name, mode_t mode, const GString *text, unsigned rename_flags,
                       GError **error) {
        const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
        g_autofree char *temporary = g_strdup_printf("%s.%d.tmp", name, (int) getpid());
        _cleanup_close_ int fd = -1;

        if (!open_directory(writer, error) || !make_parents(writer, name, error))
                return false;
        fd = openat(writer->fd, temporary, flags, mode);
        if (!write_text(writer, fd, temporary, name, text, error))
                return false;
        if (renameat2(writer->fd, temporary, writer->fd, name, rename_flags) == 0)
                return true;
        (void) error_set_errno(error, errno, "cannot write '%s'", name);
        (void) unlinkat(writer->fd, temporary, 0);
        return false;
}

/* systemd reads it when all generators have ended, so it is written where it stays: a rename(2) of each would be a
 * quarter of the writing. A file of that name is replaced. Of a longer one a part could be there, where somebody
 * kills us meanwhile: not what keeps its container in, perhaps. */
static bool write_unit(Writer *writer, const char *name, mode_t mode, const GString *text, GError **error) {
        const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
        _cleanup_close_ int fd = -1;

        if (text->len > WRITTEN_AT_ONCE)
                return write_file(writer, name, mode, text, writer->exclusive ? RENAME_NOREPLACE : 0, error);
        if (!open_directory(writer, error))
                return false;
        fd = openat(writer->fd, name, flags, mode);
        if (fd < 0 && errno == EEXIST && !writer->exclusive && unlinkat(writer->fd, name, 0) == 0)
                fd = openat(writer->fd, name, flags, mode);
        return write_text(writer, fd, name, name, text, error);
}

static bool is_same_link(const Writer *writer, const Link *link) {
        char found[PATH_MAX];
        ssize_t n = readlinkat(writer->fd, link->path, found, sizeof found);

        return n == (ssize_t) strlen(link->target) && memcmp(found, link->target, (size_t) n) == 0;
}

/* Most links share a directory: it is made when it turns out to be missing. symlink(2) is atomic by itself. */
static bool make_link(const Writer *writer, const Link *link, GError **error) {
        int r = symlinkat(link->target, writer->fd, link->path);

        if (r < 0 && errno == ENOENT) {
                if (!make_parents(writer, link->path, error))
                        return false;
                r = symlinkat(link->target, writer->fd, link->path);
        }
        if (r == 0)
                return true;
        if (errno != EEXIST)
                return error_set_errno(error, errno, "cannot link '%s'", link->path);
        if (is_same_link(writer, link))
                return true;
        return error_set(error, KT_ERROR_FAILED, "cannot link '%s': another file has taken this name", link->path);
}

static void print_unit(const Service *service, const GString *text) {
        print("---%s---\n%s", service->name, text->str);
        for (guint i = 0; i < service->links->len; i++) {
                const Link *link = service->links->pdata[i];

                print("# link %s -> %s\n", link->path, link->target);
        }
        putchar('\n');
}

void writer_put_unit(Writer *writer, const char *origin, const Service *service, mode_t readers,
                     const GString *text) {
        g_autoptr(GError) error = NULL;

        if (!writer->directory) {
                print_unit(service, text);
                return;
        }
        if (!write_unit(writer, service->name, 0600 | readers, text, &error)) {
                add_problem(writer, origin, error);
                return;
        }
        keep_name(writer, service->name);
        for (guint i = 0; i < service->links->len; i++) {
                const Link *link = service->links->pdata[i];

                if (make_link(writer, link, &error))
                        keep_name(writer, link->path);
                else {
                        add_problem(writer, origin, error);
                        g_clear_error(&error);
                }
        }
}

void writer_put_file(Writer *writer, const char *origin, const char *name, mode_t readers, const GString *text) {
        g_autoptr(GError) error = NULL;

        if (!writer->directory)
                print("---%s---\n%s\n", name, text->str);
        else if (!write_file(writer, name, 0600 | readers, text, 0, &error))
                add_problem(writer, origin, error);
        else
                keep_name(writer, name);
}

bool writer_has(const Writer *writer, const char *name) {
        g_autofree char *path = g_build_filename(writer->directory ?: "/dev/null", name, NULL);

        return access(path, F_OK) == 0;
}

void writer_mask(Writer *writer, const char *name) {
        const Link link = { .path = (char *) name, .target = (char *) "/dev/null" };
        g_autoptr(GError) error = NULL;

        if (g_ptr_array_find_with_equal_func(writer->names, name, g_str_equal, NULL))
                return;
        if (!open_directory(writer, &error) || !make_link(writer, &link, &error))
                add_problem(writer, name, error);
}
