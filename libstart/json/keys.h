/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The keys of the objects that a parser is in. What Go's programs read of a document (Podman, skopeo, scanners) must
 * be what keyturn reads of it, as both say that they speak of the same digest. Of two keys that are equal they take
 * the last one, in any case of letters; parsers in C take the first one, and the exact spelling. So a document is
 * refused
 *
 *   - where two keys of an object are equal but for case, or in an object whose keys are somebody's own words
 *     (labels), of which Go makes a map and not a structure, equal
 *   - where a key is one of `names`, which the caller reads, but for case.
 *
 * It is on the way of each start: no key has memory of its own. */
typedef struct JsonKeys {
        char *text; /* the keys of all objects that are open, each with a NUL behind it */
        gsize length, size;
        GArray *open;             /* where they are in it */
        GArray *levels;           /* of these objects */
        const char *const *names; /* in their right spelling, up to NULL; or NULL */
        guint64 hashes;           /* two bits of each name's hash */
        bool is_map;              /* the topmost object is one */
} JsonKeys;

/* names: borrowed. */
void json_keys_init(JsonKeys *keys, const char *const *names);
void json_keys_clear(JsonKeys *keys);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(JsonKeys, json_keys_clear)

/* An object begins, has this key (which is valid UTF-8, without a NUL), and ends. The last two fail with
 * KT_ERROR_FAILED. */
void json_keys_begin(JsonKeys *keys);
bool json_keys_add(JsonKeys *keys, const char *key, gsize length, GError **error);
bool json_keys_end(JsonKeys *keys, GError **error);

/* Are they the same name of a member for Go? */
bool json_key_equal(const char *a, const char *b);
