/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/json/visit.h"
#include "libstart/store/image-list.h"

/* Where the digests of an image's files are; only those of manifests are of interest. */
#define DIGESTS "[].big-data-digests."
#define MANIFEST "manifest"

/* How containers-storage begins a record. */
#define RECORD_BEGIN "{\"id\":\""

static void record_free(gpointer data) {
        ImageRecord *record = data;

        g_ptr_array_unref(record->names);
        g_array_unref(record->manifests);
        g_free(record);
}

void image_list_free(ImageList *list) {
        g_ptr_array_unref(list->records);
        g_string_chunk_free(list->strings);
        g_free(list);
}

static bool on_object(const char *path, void *data, GError **error) {
        ImageList *list = data;

        if (strcmp(path, "[]") != 0)
                return true;

        ImageRecord *record = g_new0(ImageRecord, 1);
        record->names = g_ptr_array_new();
        record->manifests = g_array_new(FALSE, FALSE, sizeof(ManifestRecord));
        g_ptr_array_add(list->records, record);
        return true;
}

static bool on_string(const char *path, const char *value, size_t length, void *data, GError **error) {
        ImageList *list = data;
        const char *field = path + strlen("[].");

        if (!g_str_has_prefix(path, "[].") || list->records->len == 0)
                return true;

        ImageRecord *record = list->records->pdata[list->records->len - 1];
        if (strcmp(field, "id") == 0)
                record->id = g_string_chunk_insert_len(list->strings, value, (gssize) length);
        else if (strcmp(field, "digest") == 0)
                record->digest = g_string_chunk_insert_len(list->strings, value, (gssize) length);
        else if (strcmp(field, "layer") == 0)
                record->layer = g_string_chunk_insert_len(list->strings, value, (gssize) length);
        else if (strcmp(field, "names[]") == 0)
                g_ptr_array_add(record->names, g_string_chunk_insert_len(list->strings, value, (gssize) length));
        else if (g_str_has_prefix(path, DIGESTS MANIFEST)) {
                ManifestRecord manifest = {
                        .key = g_string_chunk_insert(list->strings, path + strlen(DIGESTS)),
                        .digest = g_string_chunk_insert_len(list->strings, value, (gssize) length),
                };
                g_array_append_val(record->manifests, manifest);
        }
        return true;
}

static const char *const keys[] = { "big-data-digests", "digest", "id", "layer", "names", NULL };

static const JsonVisitor visitor = { .object = on_object, .string = on_string, .names = keys };

static ImageList *new_list(void) {
        ImageList *list = g_new0(ImageList, 1);

        list->records = g_ptr_array_new_with_free_func(record_free);
        list->strings = g_string_chunk_new(4096);
        return list;
}

ImageList *image_list_parse(const char *text, size_t length, GError **error) {
        g_autoptr(ImageList) list = new_list();

        if (length > 0 && !json_visit(text, length, &visitor, list, error))
                return NULL;
        return g_steal_pointer(&list);
}

/* The beginning of the record that `inside` is in. In valid JSON these characters cannot stand within a
 * string, where the quotes would have backslashes. */
static const char *find_record(const char *text, const char *inside) {
        for (const char *p = inside; (p = memrchr(text, '{', (size_t) (p - text)));)
                if (strncmp(p, RECORD_BEGIN, strlen(RECORD_BEGIN)) == 0)
                        return p;
        return NULL;
}

/* Is what stands there one of the topmost array's elements, written without blanks? No record has objects
 * in an array, so that nothing else could look like it. */
static bool is_element(const char *text, const char *record, const char *end) {
        bool is_first = record == text + 1 && text[0] == '[';
        bool is_next = record > text + 1 && record[-2] == '}' && record[-1] == ',';

        return (is_first || is_next) && (*end == ',' || *end == ']');
}

/* *ret_end: behind the record. */
static ImageList *parse_record(const char *text, size_t length, const char *inside, const char **ret_end) {
        const char *record = find_record(text, inside);
        g_autoptr(ImageList) list = new_list();
        size_t n;

        if (!record || !json_visit_element(record, (size_t) (text + length - record), &visitor, list, &n, NULL) ||
            record + n >= text + length || record + n <= inside || !is_element(text, record, record + n))
                return NULL;
        *ret_end = record + n;
        return g_steal_pointer(&list);
}

/* The name may also stand among the earlier names of an image that has it no more, and often. */
ImageList *image_list_find_name(const char *text, size_t length, const char *name) {
        g_autofree char *quoted = g_strconcat("\"", name, "\"", NULL);
        size_t n = strlen(quoted);
        const char *end = text + length;

        for (const char *p = text; (p = memmem(p, (size_t) (end - p), quoted, n));) {
                g_autoptr(ImageList) list = parse_record(text, length, p, &p);

                if (!list)
                        return NULL;
                if (image_record_has_name(list->records->pdata[0], name))
                        return g_steal_pointer(&list);
        }
        return NULL;
}

bool image_record_has_id(const ImageRecord *record, const char *id) {
        return g_strcmp0(record->id, id) == 0;
}

bool image_record_has_id_prefix(const ImageRecord *record, const char *prefix) {
        return record->id && g_str_has_prefix(record->id, prefix);
}

bool image_record_has_name(const ImageRecord *record, const char *name) {
        return g_ptr_array_find_with_equal_func(record->names, name, g_str_equal, NULL);
}

bool image_record_has_manifest(const ImageRecord *record, const char *digest) {
        for (unsigned i = 0; i < record->manifests->len; i++)
                if (strcmp(g_array_index(record->manifests, ManifestRecord, i).digest, digest) == 0)
                        return true;
        return g_strcmp0(record->digest, digest) == 0;
}

bool image_record_has_repository(const ImageRecord *record, const char *repository) {
        size_t length = strlen(repository);

        for (unsigned i = 0; i < record->names->len; i++) {
                const char *name = record->names->pdata[i];

                if (strncmp(name, repository, length) == 0 && (name[length] == ':' || name[length] == '@'))
                        return true;
        }
        return false;
}

const char *image_record_manifest(const ImageRecord *record, const char *key) {
        for (unsigned i = 0; i < record->manifests->len; i++) {
                const ManifestRecord *manifest = &g_array_index(record->manifests, ManifestRecord, i);

                if (strcmp(manifest->key, key) == 0)
                        return manifest->digest;
        }
        return NULL;
}
