/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "libstart/base/path-value.h"
#include "libstart/root/made-files.h"

#define ATTRIBUTE "trusted.keyturn.made"

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
        MadeFile *file = g_new0(MadeFile, 1);

        *file = (MadeFile) { g_strdup(path), g_bytes_new(content, length) };
        g_ptr_array_add(made, file);
}

/* Of each the content's length in the machine's order of bytes, the path with its NUL, and the content. */
void made_files_remember(const GPtrArray *made, const char *directory) {
        g_autoptr(GByteArray) all = g_byte_array_new();

        for (guint i = 0; i < made->len; i++) {
                const MadeFile *file = made->pdata[i];
                guint32 length = (guint32) g_bytes_get_size(file->content);

                g_byte_array_append(all, (const guint8 *) &length, sizeof length);
                g_byte_array_append(all, (const guint8 *) file->path, (guint) strlen(file->path) + 1);
                g_byte_array_append(all, g_bytes_get_data(file->content, NULL), length);
        }
        (void) setxattr(directory, ATTRIBUTE, all->data, all->len, 0);
}

GPtrArray *made_files_recall(const char *directory) {
        g_autofree char *all = g_malloc(XATTR_SIZE_MAX);
        ssize_t size = getxattr(directory, ATTRIBUTE, all, XATTR_SIZE_MAX);
        GPtrArray *made = made_files_new();
        guint32 length;

        for (const char *at = all; size > 0 && at < all + size; at += length) {
                const char *path = at + sizeof length;

                memcpy(&length, at, sizeof length);
                at = path + strlen(path) + 1;
                made_files_add(made, path, at, length);
        }
        return made;
}

bool made_files_lead_to(const GPtrArray *made, const char *directory) {
        for (guint i = 0; i < made->len; i++)
                if (path_value_covers(directory, ((const MadeFile *) made->pdata[i])->path))
                        return true;
        return false;
}

bool made_files_contain(const GPtrArray *made, const char *path, const char *content, gsize length) {
        for (guint i = 0; i < made->len; i++) {
                const MadeFile *file = made->pdata[i];

                if (g_str_equal(file->path, path) && g_bytes_get_size(file->content) == length &&
                    (length == 0 || memcmp(g_bytes_get_data(file->content, NULL), content, length) == 0))
                        return true;
        }
        return false;
}
