/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <yajl/yajl_tree.h>

/* Walking through a yajl tree by tables, with errors that name the place (".syscalls[3].args[0].op: …").
 * As in podman, the case of a key does not matter and null is the same as a key that is not there.
 * Strings live as long as the tree. */

typedef bool (*JsonHandler)(yajl_val value, void *object, GError **error);

typedef struct JsonKey {
        const char *name;
        JsonHandler handler; /* NULL: known, and without meaning here */
        size_t member;       /* of the object: the handler is given its address */
        JsonHandler each;    /* the value is an array, and this, in the place of `handler`, for each element */
} JsonKey;

/* Fails with the line for what is no JSON, and for what is nested more than `max_depth` levels (the tree's destructor
 * is recursive, and a profile is not to be trusted to end), or has two meanings (keys.h). Release with
 * g_auto(yajl_val) or yajl_tree_free(). */
yajl_val json_parse(const char *text, gsize length, guint max_depth, GError **error);
G_DEFINE_AUTO_CLEANUP_FREE_FUNC(yajl_val, yajl_tree_free, NULL)

/* The same of a document whose reader looks for these names, up to NULL, in their exact spelling: they are refused in
 * another case. */
yajl_val json_parse_names(const char *text, gsize length, guint max_depth, const char *const *names, GError **error);

/* The same of a document whose topmost object has names as its keys, of which case matters. */
yajl_val json_parse_map(const char *text, gsize length, guint max_depth, GError **error);

/* Calls the handler of each key. A key that is not in the table (which ends with a NULL name) is an error; one that
 * does not begin with a letter is a remark of the author's. */
bool json_walk_object(yajl_val value, const JsonKey *keys, void *object, GError **error);

/* Calls `handler` for each element. */
bool json_walk_array(yajl_val value, JsonHandler handler, void *object, GError **error);

bool json_get_number(yajl_val value, guint64 max, guint64 *ret, GError **error);

/* JsonHandlers: sets a const char *; sets a char * to a copy, of any text or of an absolute path; appends copies of
 * an array's strings to a GPtrArray *. */
bool json_get_string(yajl_val value, void *ret_string, GError **error);
bool json_copy_string(yajl_val value, void *string, GError **error);
bool json_copy_path(yajl_val value, void *path, GError **error);
bool json_append_strings(yajl_val value, void *array, GError **error);
