/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/keys.h"

#define LONG_S 0x17f       /* which is an s */
#define KELVIN_SIGN 0x212a /* and this a k, for Go, too */

#define FEW_KEYS 32 /* are compared each with each, which is quicker than to sort them */

typedef struct Key {
        guint hash;
        gsize offset;
} Key;

typedef struct Level {
        guint first; /* of its keys in JsonKeys.open */
        bool is_map;
} Level;

void json_keys_init(JsonKeys *keys, const char *const *names) {
        *keys = (JsonKeys) {
                .text = g_string_sized_new(1024),
                .open = g_array_sized_new(FALSE, FALSE, sizeof(Key), 64),
                .levels = g_array_new(FALSE, FALSE, sizeof(Level)),
                .names = names,
        };
}

void json_keys_clear(JsonKeys *keys) {
        g_string_free(keys->text, TRUE);
        g_array_unref(keys->open);
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

static void append_folded(GString *text, const char *key, gsize length) {
        for (const char *p = key, *end = key + length; p < end; p = g_utf8_next_char(p))
                g_string_append_unichar(text, fold(g_utf8_get_char(p)));
}

/* Appends the key, folded or as it is. */
static Key append(GString *text, const char *key, gsize length, bool is_folded) {
        Key added = { .hash = 5381, .offset = text->len };
        bool is_ascii = true;

        g_string_append_len(text, key, (gssize) length);
        for (char *p = text->str + added.offset, *end = p + length; p < end; p++) {
                is_ascii &= (guchar) *p < 0x80;
                if (is_folded && *p >= 'A' && *p <= 'Z')
                        *p |= 0x20;
                added.hash = added.hash * 33 + (guchar) *p;
        }
        if (is_folded && !is_ascii) {
                g_string_truncate(text, added.offset);
                append_folded(text, key, length);
                added.hash = g_str_hash(text->str + added.offset);
        }
        g_string_append_c(text, '\0');
        return added;
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
        return keys->open->len > 0 ? keys->text->str + g_array_index(keys->open, Key, keys->open->len - 1).offset :
                                     "";
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

/* Most keys are none of the names by their first letter. */
static bool check_spelling(const JsonKeys *keys, const char *key, gsize length, const char *folded, GError **error) {
        for (const char *const *name = keys->names; name && *name; name++)
                if ((**name | 0x20) == *folded && g_ascii_strcasecmp(*name, folded) == 0 &&
                    strncmp(*name, key, length) != 0)
                        return error_set(error, KT_ERROR_FAILED,
                                         "the key '%.*s' is '%s' for some programs, and nothing for others",
                                         (int) length, key, *name);
        return true;
}

bool json_keys_add(JsonKeys *keys, const char *key, gsize length, GError **error) {
        bool is_map = innermost(keys)->is_map;
        Key added = append(keys->text, key, length, !is_map);

        g_array_append_val(keys->open, added);
        return is_map || check_spelling(keys, key, length, keys->text->str + added.offset, error);
}

static int compare_keys(const void *a, const void *b, void *data) {
        const Key *one = a, *other = b;
        const char *text = data;

        if (one->hash != other->hash)
                return one->hash < other->hash ? -1 : 1;
        return strcmp(text + one->offset, text + other->offset);
}

/* NULL: none. */
static const char *find_repeated(Key *begin, guint n, char *text) {
        if (n > FEW_KEYS)
                g_qsort_with_data(begin, (int) n, sizeof *begin, compare_keys, text);
        for (guint i = 1; i < n; i++)
                for (guint j = n > FEW_KEYS ? i - 1 : 0; j < i; j++)
                        if (begin[i].hash == begin[j].hash && compare_keys(begin + i, begin + j, text) == 0)
                                return text + begin[i].offset;
        return NULL;
}

bool json_keys_end(JsonKeys *keys, GError **error) {
        const Level level = *innermost(keys);
        guint n = keys->open->len - level.first;
        Key *begin = n > 0 ? &g_array_index(keys->open, Key, level.first) : NULL;
        gsize offset = n > 0 ? begin->offset : keys->text->len;
        const char *repeated = find_repeated(begin, n, keys->text->str);

        if (repeated)
                error_set(error, KT_ERROR_FAILED, "an object has the key '%s' twice%s", repeated,
                          level.is_map ? "" : " (upper and lower case are the same for Go's programs)");
        g_string_truncate(keys->text, offset);
        g_array_set_size(keys->open, level.first);
        g_array_set_size(keys->levels, keys->levels->len - 1);
        return !repeated;
}
