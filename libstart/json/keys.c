/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/keys.h"

#define LONG_S 0x17f       /* which is an s */
#define KELVIN_SIGN 0x212a /* and this a k, for Go, too */

#define FEW_KEYS 32 /* are compared each with each, which is quicker than to sort them */

typedef struct Key {
        guint hash; /* of what it is in lower case */
        gsize offset;
} Key;

typedef struct Level {
        guint first;  /* of its keys in JsonKeys.open */
        gsize parent; /* the key that it is the value of; SIZE_MAX: none */
} Level;

static gunichar fold(gunichar c) {
        if (c < 0x80)
                return (gunichar) g_ascii_tolower((char) c);
        if (c == LONG_S || c == KELVIN_SIGN)
                return c == LONG_S ? 's' : 'k';
        return g_unichar_tolower(g_unichar_toupper(c));
}

/* Sorts, too. */
static int compare_folded(const char *a, const char *b) {
        for (; *a && *b; a = g_utf8_next_char(a), b = g_utf8_next_char(b)) {
                gunichar one = fold(g_utf8_get_char(a)), other = fold(g_utf8_get_char(b));

                if (one != other)
                        return one < other ? -1 : 1;
        }
        return !!*a - !!*b;
}

bool json_key_equal(const char *a, const char *b) {
        return compare_folded(a, b) == 0;
}

/* The same for all that are equal but for case: a letter's case is this bit. */
#define CASE_BIT 0x20

static guint find_hash(const char *key) {
        guint hash = 5381;

        for (; *key && (guchar) *key < 0x80; key++)
                hash = hash * 33 + ((guint) *key | CASE_BIT);
        for (; *key; key = g_utf8_next_char(key))
                hash = hash * 33 + (fold(g_utf8_get_char(key)) | CASE_BIT);
        return hash;
}

static guint64 hash_bits(guint hash) {
        return G_GUINT64_CONSTANT(1) << (hash & 63) | G_GUINT64_CONSTANT(1) << (hash >> 6 & 63);
}

void json_keys_init(JsonKeys *keys, const char *const *names) {
        *keys = (JsonKeys) {
                .open = g_array_sized_new(FALSE, FALSE, sizeof(Key), 64),
                .levels = g_array_new(FALSE, FALSE, sizeof(Level)),
                .names = names,
        };
        for (; names && *names; names++)
                keys->hashes |= hash_bits(find_hash(*names));
}

void json_keys_clear(JsonKeys *keys) {
        g_free(keys->text);
        g_array_unref(keys->open);
        g_array_unref(keys->levels);
}

/* What is in there is named by the people who make images, networks and secrets, and may well be two names that only
 * differ in case: Red Hat's images had both "Name" and "name". */
static bool is_map(const JsonKeys *keys, const Level *level) {
        static const char *const maps[] = {
                "annotations", "driverOptions", "ExposedPorts", "labels",     "metadata", "nameToID",
                "networks",    "network_info",  "options",      "interfaces", "volumes",  NULL,
        };

        if (level->parent == SIZE_MAX)
                return keys->is_map;
        for (const char *const *name = maps; *name; name++)
                if (json_key_equal(*name, keys->text + level->parent))
                        return true;
        return false;
}

void json_keys_begin(JsonKeys *keys) {
        guint n = keys->open->len;
        bool is_topmost = keys->levels->len == 0 || n == 0; /* else it is the value of the last key */
        Level level = { .first = n, .parent = is_topmost ? SIZE_MAX : g_array_index(keys->open, Key, n - 1).offset };

        g_array_append_val(keys->levels, level);
}

static Level *innermost(const JsonKeys *keys) {
        return &g_array_index(keys->levels, Level, keys->levels->len - 1);
}

/* Most keys that come here are one of the names. */
static bool check_spelling(const JsonKeys *keys, const char *key, GError **error) {
        const char *const *name = keys->names;

        while (*name && (**name != *key || strcmp(*name, key) != 0))
                name++;
        if (*name)
                return true;
        for (name = keys->names; *name; name++)
                if (((guchar) *key >= 0x80 || (**name | CASE_BIT) == (*key | CASE_BIT)) &&
                    json_key_equal(*name, key) && !is_map(keys, innermost(keys)))
                        return error_set(error, KT_ERROR_FAILED,
                                         "the key '%s' is '%s' for some programs, and nothing for others", key,
                                         *name);
        return true;
}

/* Returns where it is. */
static gsize append(JsonKeys *keys, const char *key, gsize length) {
        gsize offset = keys->length;

        if (keys->size - offset <= length) {
                keys->size = 2 * (keys->size + length) + 512;
                keys->text = g_realloc(keys->text, keys->size);
        }
        memcpy(keys->text + offset, key, length);
        keys->text[offset + length] = '\0';
        keys->length += length + 1;
        return offset;
}

bool json_keys_add(JsonKeys *keys, const char *key, gsize length, GError **error) {
        Key added = { .offset = append(keys, key, length) };

        added.hash = find_hash(keys->text + added.offset);
        g_array_append_val(keys->open, added);
        return ~keys->hashes & hash_bits(added.hash) || check_spelling(keys, keys->text + added.offset, error);
}

static int compare_keys(const void *a, const void *b, void *text) {
        const Key *one = a, *other = b;

        if (one->hash != other->hash)
                return one->hash < other->hash ? -1 : 1;
        return compare_folded((const char *) text + one->offset, (const char *) text + other->offset);
}

/* In a map, by the very bytes: among keys that are equal in lower case these have an order of their own. */
static int compare_exactly(const void *a, const void *b, void *text) {
        return strcmp((const char *) text + ((const Key *) a)->offset,
                      (const char *) text + ((const Key *) b)->offset);
}

/* NULL: none. */
static const char *find_repeated(Key *begin, guint n, GCompareDataFunc compare_two, char *text) {
        if (n > FEW_KEYS)
                g_qsort_with_data(begin, (int) n, sizeof *begin, compare_two, text);
        for (guint i = 1; i < n; i++)
                for (guint j = n > FEW_KEYS ? i - 1 : 0; j < i; j++)
                        if (begin[i].hash == begin[j].hash && compare_two(begin + i, begin + j, text) == 0)
                                return text + begin[i].offset;
        return NULL;
}

bool json_keys_end(JsonKeys *keys, GError **error) {
        const Level level = *innermost(keys);
        guint n = keys->open->len - level.first;
        Key *begin = &g_array_index(keys->open, Key, level.first);
        gsize length = n > 0 ? begin->offset : keys->length;
        const char *repeated = find_repeated(begin, n, compare_keys, keys->text);
        bool is_exact = repeated && is_map(keys, &level);

        if (is_exact)
                repeated = find_repeated(begin, n, compare_exactly, keys->text);
        if (repeated)
                error_set(error, KT_ERROR_FAILED, "an object has the key '%s' twice%s", repeated,
                          is_exact ? "" : " (upper and lower case are the same for Go's programs)");
        keys->length = length;
        g_array_set_size(keys->open, level.first);
        g_array_set_size(keys->levels, keys->levels->len - 1);
        return !repeated;
}
