/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/json/visit.h"
#include "libstart/store/image-list.h"
#include "tests/fuzz/fuzz.h"

#define NAME "localhost/test/busybox:latest"

static bool is_nested(const char *path, void *ret_nested, GError **error) {
        if (!g_str_equal(path, "[]") && g_str_has_suffix(path, "[]"))
                *(bool *) ret_nested = true;
        return true;
}

/* As containers-storage writes it: no character of a name escaped, and no object in an array but the images. */
static bool is_plain(const char *text, size_t size) {
        static const JsonVisitor visitor = { .object = is_nested };
        bool nested = false;

        return !memchr(text, '\\', size) && json_visit(text, size, &visitor, &nested, NULL) && !nested;
}

static const ImageRecord *find_in_list(const ImageList *list) {
        for (guint i = 0; list && i < list->records->len; i++)
                if (image_record_has_name(list->records->pdata[i], NAME))
                        return list->records->pdata[i];
        return NULL;
}

static void check_same(const ImageRecord *a, const ImageRecord *b) {
        require(b, "the quick way finds an image that is not there");
        require(g_strcmp0(a->id, b->id) == 0 && g_strcmp0(a->digest, b->digest) == 0 &&
                        g_strcmp0(a->layer, b->layer) == 0 && a->names->len == b->names->len &&
                        a->manifests->len == b->manifests->len,
                "the quick way finds another image ('%s', not '%s')", a->id, b->id);
}

/* The search for a name in the text finds the image that reading all of the text finds, or none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *copy = fuzz_text(data, size);
        const char *text = (const char *) data;
        g_autoptr(GError) error = NULL;
        g_autoptr(ImageList) list = image_list_parse(text, size, &error);
        g_autoptr(ImageList) found = image_list_find_name(text, size, NAME);

        require_error(list, error, copy);
        if (!found)
                return 0;
        require(found->records->len == 1 && image_record_has_name(found->records->pdata[0], NAME),
                "what is found has another name");
        if (list && is_plain(text, size))
                check_same(found->records->pdata[0], find_in_list(list));
        return 0;
}
