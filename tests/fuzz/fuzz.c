/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/path-value.h"
#include "tests/fuzz/fuzz.h"

void fuzz_fail(const char *file, int line, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        fprintf(stderr, "%s:%d: ", file, line);
        vfprintf(stderr, format, ap);
        fputc('\n', stderr);
        va_end(ap);
        abort();
}

void require_error_at(const char *file, int line, bool ok, const GError *error, const char *text) {
        if (ok && error)
                fuzz_fail(file, line, "a result, and the error '%s'", error->message);
        if (!ok && !error)
                fuzz_fail(file, line, "neither a result nor an error");
        if (error && !error->message[0])
                fuzz_fail(file, line, "an empty error");
        if (error && g_utf8_validate(text, -1, NULL) && !g_utf8_validate(error->message, -1, NULL))
                fuzz_fail(file, line, "the error '%s' is not UTF-8", error->message);
}

void require_same(char *const *a, char *const *b) {
        require(g_strv_length((char **) a) == g_strv_length((char **) b), "%u strings became %u",
                g_strv_length((char **) a), g_strv_length((char **) b));
        for (; *a; a++, b++)
                require(g_str_equal(*a, *b), "'%s' became '%s'", *a, *b);
}

void require_unique(char *const *list) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

        for (; *list; list++)
                require(g_hash_table_add(seen, *list), "'%s' is there twice", *list);
}

void require_clean(const char *path) {
        g_autofree char *clean = path_value_clean(path);

        require(path[0] == '/' && g_str_equal(clean, path), "the path '%s' is not clean", path);
}

char *fuzz_text(const uint8_t *data, size_t size) {
        return g_strndup((const char *) data, size);
}

char **fuzz_parts(const uint8_t *data, size_t size, guint n) {
        g_autofree char *text = fuzz_text(data, size);
        g_auto(GStrv) found = g_strsplit(text, "%%\n", (int) n);
        char **parts = g_new0(char *, n + 1);

        for (guint i = 0; i < n; i++)
                parts[i] = g_strdup(i < g_strv_length(found) ? found[i] : "");
        return parts;
}

static char *root, *file;
static int fd = -1;

static void remove_root(void) {
        g_autofree char *dir = g_strdup(file);

        (void) unlink(dir);
        while (!g_str_equal(dir, root)) {
                *strrchr(dir, '/') = '\0';
                (void) rmdir(dir);
        }
}

static void make_root(const char *path) {
        g_autofree char *parent = NULL;

        root = g_dir_make_tmp("keyturn-fuzz-XXXXXX", NULL);
        require(root, "no temporary directory");
        file = g_strconcat(root, path, NULL);
        parent = g_path_get_dirname(file);
        require(g_mkdir_with_parents(parent, 0755) == 0, "cannot make '%s'", parent);
        fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        require(fd >= 0, "cannot make '%s'", file);
        (void) atexit(remove_root);
}

/* Neither made nor emptied anew each time: some file systems then wait for the disk. */
const char *fuzz_root(const char *path, const uint8_t *data, size_t size) {
        if (!root)
                make_root(path);
        require(pwrite(fd, data, size, 0) == (ssize_t) size && ftruncate(fd, (off_t) size) == 0, "cannot write '%s'",
                file);
        return root;
}
