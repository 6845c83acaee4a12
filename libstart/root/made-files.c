/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/xattr.h>

#include "libstart/base/path-value.h"
#include "libstart/root/made-files.h"

#define ATTRIBUTE "trusted.keyturn.made"
#define DIGESTS_MAX 4096

typedef struct MadeFile {
        char *path;
        GBytes *content;
} MadeFile;

static void free_file(void *data) {
        MadeFile *file = data;

        g_free(file->path);
        g_bytes_unref(file->content);
        g_free(file);
}

GPtrArray *made_files_new(void) {
        return g_ptr_array_new_with_free_func(free_file);
}

void made_files_add(GPtrArray *made, const char *path, const char *content, gsize length) {
        MadeFile *file;

        if (strchr(path, '\n'))
                return;
        file = g_new0(MadeFile, 1);
        *file = (MadeFile) { g_strdup(path), g_bytes_new(content, length) };
        g_ptr_array_add(made, file);
}

/* "\nDIGEST /etc/hosts\n". */
static char *make_line(const char *path, const char *content, gsize length) {
        g_autofree char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *) content, length);

        return g_strconcat("\n", digest, " ", path, "\n", NULL);
}

void made_files_remember(const GPtrArray *made, const char *directory) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < made->len; i++) {
                const MadeFile *file = made->pdata[i];
                gsize length;
                const char *content = g_bytes_get_data(file->content, &length);
                g_autofree char *line = make_line(file->path, content ?: "", length);

                g_string_append(text, line);
        }
        (void) setxattr(directory, ATTRIBUTE, text->str, text->len, 0);
}

char *made_files_recall(const char *directory) {
        char text[DIGESTS_MAX];
        ssize_t n = getxattr(directory, ATTRIBUTE, text, sizeof text);

        return n < 0 ? NULL : g_strndup(text, (gsize) n);
}

bool made_files_lead_to(const char *digests, const char *directory) {
        g_auto(GStrv) lines = g_strsplit(digests ?: "", "\n", -1);

        for (char **line = lines; *line; line++) {
                const char *path = strchr(*line, ' ');

                if (path && path_value_covers(directory, path + 1))
                        return true;
        }
        return false;
}

bool made_files_contain(const char *digests, const char *path, const char *content, gsize length) {
        g_autofree char *line = make_line(path, content, length);

        return digests && strstr(digests, line);
}
