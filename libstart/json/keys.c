/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/keys.h"

#define LONG_S 0x17f       /* which is an s */
#define KELVIN_SIGN 0x212a /* and this a k, for Go, too */

typedef struct Level {
        guint first; /* of its keys in JsonKeys.open */
        bool is_map;
} Level;

void json_keys_init(JsonKeys *keys, const char *const *names) {
        *keys = (JsonKeys) {
                .open = g_ptr_array_new_with_free_func(g_free),
                .levels = g_array_new(FALSE, FALSE, sizeof(Level)),
                .names = names,
        };
}

void json_keys_clear(JsonKeys *keys) {
        g_ptr_array_unref(keys->open);
        g_array_unref(keys->levels);
}

static gunichar fold(gunichar c) {
        if (c < 0x80)
                return (gunichar) g_ascii_tolower((char) c);
        if (c == LONG_S || c == KELVIN_SIGN)
                return c == LONG_S ? 's' : 'k';
        return g_unichar_tolower(g_unichar_toupper(c));
}

bool json_key_equal(const char *a, const char *b) {
        for (; *a && *b; a = g_utf8_next_char(a), b = g_utf8_next_char(b))
                if (fold(g_utf8_get_char(a)) != fold(g_utf8_get_char(b)))
                        return false;
        return !*a && !*b;
}

static bool is_ascii(const char *key, gsize length) {
        for (gsize i = 0; i < length; i++)
                if ((guchar) key[i] >= 0x80)
                        return false;
        return true;
}

/* Transfer full. */
static char *fold_key(const char *key, gsize length) {
        GString *folded;

        if (is_ascii(key, length))
                return g_ascii_strdown(key, (gssize) length);
        folded = g_string_new(NULL);
        for (const char *p = key; p < key + length; p = g_utf8_next_char(p))
                g_string_append_unichar(folded, fold(g_utf8_get_char(p)));
        return g_string_free(folded, FALSE);
}

/* What is in there is named by the people who make images, networks and secrets, and may well be two names that only differ in
 * case: Red Hat's images had both "Name" and "name". */
static bool is_name_of_map(const char *folded) {
        static const char *const maps[] = {
                "annotations", "driveroptions", "exposedports", "labels",     "metadata", "nametoid",
                "networks",    "network_info",  "options",      "interfaces", "volumes",  NULL,
        };

        return g_strv_contains(maps, folded);
}

static const char *last_key(const JsonKeys *keys) {
        return keys->open->len > 0 ? keys->open->pdata[keys->open->len - 1] : "";
}

void json_keys_begin(JsonKeys *keys) {
        Level level = { .first = keys->open->len, .is_map = keys->is_map };

        if (keys->levels->len > 0)
                level.is_map = is_name_of_map(last_key(keys));
        g_array_append_val(keys->levels, level);
}

static Level *innermost(const JsonKeys *keys) {
        return &g_array_index(keys->levels, Level, keys->levels->len - 1);
}

/* Most keys are none of the names by their first letter: this is on the way of each start. */
static bool check_spelling(const JsonKeys *keys, const char *key, gsize length, const char *folded, GError **error) {
        for (const char *const *name = keys->names; name && *name; name++)
                if (g_ascii_tolower(**name) == *folded && g_ascii_strcasecmp(*name, folded) == 0 &&
                    strncmp(*name, key, length) != 0)
                        return error_set(error, KT_ERROR_FAILED,
                                         "the key '%.*s' is '%s' for some programs, and nothing for others",
                                         (int) length, key, *name);
        return true;
}

bool json_keys_add(JsonKeys *keys, const char *key, gsize length, GError **error) {
        bool is_map = innermost(keys)->is_map;
        char *own = is_map ? g_strndup(key, length) : fold_key(key, length);

        g_ptr_array_add(keys->open, own);
        if (memchr(key, '\0', length))
                return error_set(error, KT_ERROR_FAILED, "the key '%.*s' has a NUL inside", (int) length, key);
        return is_map || check_spelling(keys, key, length, own, error);
}

static int compare_keys(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

bool json_keys_end(JsonKeys *keys, GError **error) {
        const Level level = *innermost(keys);
        char **begin = (char **) keys->open->pdata + level.first;
        gsize n = keys->open->len - level.first;
        bool ok = true;

        if (n > 1)
                qsort(begin, n, sizeof *begin, compare_keys);
        for (gsize i = 1; ok && i < n; i++)
                ok = strcmp(begin[i - 1], begin[i]) != 0 ||
                     error_set(error, KT_ERROR_FAILED, "an object has the key '%s' twice%s", begin[i],
                               level.is_map ? "" : " (upper and lower case are the same for Go's programs)");
        g_ptr_array_set_size(keys->open, (int) level.first);
        g_array_set_size(keys->levels, keys->levels->len - 1);
        return ok;
}
