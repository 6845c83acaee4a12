/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Bytes of a text, from begin up to end. */
typedef struct TextRange {
        size_t begin, end;
} TextRange;

/* Reads JSON through yajl and reports what can matter in a store: the strings and the beginnings of
 * objects, each with its path. A path is the keys from the top, joined with ".", and "[]" for an element
 * of an array, as in "manifests[].platform.os". There is no tree: images.json can be large, and a path is
 * all that is asked of it. Any function may be NULL; a false return ends the reading, with *error set.
 * An object with two meanings (keys.h) does, too, but at its end, after it was reported.
 * Pure.
 *
 * value is not NUL-terminated, and has no NUL inside: most strings of images.json are of no interest, and
 * copying each would cost more than the search. */
typedef struct JsonVisitor {
        bool (*object)(const char *path, void *data, GError **error);
        bool (*string)(const char *path, const char *value, size_t length, void *data, GError **error);
        void (*array)(const char *path, TextRange elements, void *data); /* at its end */
        bool is_checked;          /* somebody else checks the keys, before anything comes of the document */
        const char *const *names; /* the keys that matter, up to NULL: what they are but for case is refused */
} JsonVisitor;

/* text: a whole document; one without anything in it is an error. Fails with KT_ERROR_FAILED. */
bool json_visit(const char *text, size_t length, const JsonVisitor *visitor, void *data, GError **error);

/* text: begins with an object that is an element of a document's topmost array, and what follows is not
 * looked at. Paths are those of that document: "[].id". *ret_length: of the object. */
bool json_visit_element(const char *text, size_t length, const JsonVisitor *visitor, void *data, size_t *ret_length,
                        GError **error);
