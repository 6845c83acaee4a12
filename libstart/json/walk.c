/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yajl/yajl_parse.h>

#include "libstart/base/error.h"
#include "libstart/json/check.h"
#include "libstart/json/keys.h"
#include "libstart/json/walk.h"

/* The tree's parser does not tell where it stopped, so the place of an error takes a second look. */
static guint find_bad_line(const char *text, gsize length) {
        yajl_handle handle = yajl_alloc(NULL, NULL, NULL);
        gsize good;
        guint line = 1;

        if (yajl_parse(handle, (const unsigned char *) text, length) == yajl_status_ok)
                good = length; /* it is the end that is missing */
        else
                good = MIN(yajl_get_bytes_consumed(handle), length);
        yajl_free(handle);
        for (gsize i = 0; i < good; i++)
                line += text[i] == '\n';
        return line;
}

static yajl_val parse(const char *text, gsize length, guint max_depth, GError **error) {
        char problem[512] = "";

        if (memchr(text, '\0', length))
                return error_null(error, KT_ERROR_FAILED, "not JSON: it holds a NUL byte");
        if (!json_check(text, length, max_depth, error))
                return NULL;
        g_autofree char *copy = g_strndup(text, length);
        yajl_val tree = yajl_tree_parse(copy, problem, sizeof problem);
        if (!tree) {
                problem[strcspn(problem, "\n")] = '\0';
                error_set(error, KT_ERROR_FAILED, "line %u: not JSON: %s", find_bad_line(text, length), problem);
        }
        return tree;
}

static bool check_meaning(yajl_val value, JsonKeys *keys, GError **error) {
        bool ok = true;

        for (size_t i = 0; ok && YAJL_IS_ARRAY(value) && i < value->u.array.len; i++)
                ok = check_meaning(value->u.array.values[i], keys, error);
        if (!YAJL_IS_OBJECT(value))
                return ok;
        json_keys_begin(keys);
        for (size_t i = 0; ok && i < value->u.object.len; i++) {
                const char *key = value->u.object.keys[i];

                ok = json_keys_add(keys, key, strlen(key), error) &&
                     check_meaning(value->u.object.values[i], keys, error);
        }
        return ok && json_keys_end(keys, error);
}

static yajl_val parse_checked(const char *text, gsize length, guint max_depth, const char *const *names, bool is_map,
                              GError **error) {
        yajl_val tree = parse(text, length, max_depth, error);
        g_auto(JsonKeys) keys = { 0 };

        json_keys_init(&keys, names);
        keys.is_map = is_map;
        if (tree && !check_meaning(tree, &keys, error))
                g_clear_pointer(&tree, yajl_tree_free);
        return tree;
}

yajl_val json_parse(const char *text, gsize length, guint max_depth, GError **error) {
        return parse_checked(text, length, max_depth, NULL, false, error);
}

yajl_val json_parse_names(const char *text, gsize length, guint max_depth, const char *const *names, GError **error) {
        return parse_checked(text, length, max_depth, names, false, error);
}

yajl_val json_parse_map(const char *text, gsize length, guint max_depth, GError **error) {
        return parse_checked(text, length, max_depth, NULL, true, error);
}

/* Places grow from the inside: "op" becomes ".args[1].op" on the way out. */
static void prefix_place(GError **error, const char *place) {
        if (!error)
                return;
        char first = (*error)->message[0];
        g_prefix_error(error, "%s%s", place, first == '.' || first == '[' ? "" : ": ");
}

static const JsonKey *find_key(const JsonKey *keys, const char *name) {
        for (; keys->name; keys++)
                if (json_key_equal(keys->name, name))
                        return keys;
        return NULL;
}

static bool handle(const JsonKey *key, yajl_val value, void *member, GError **error) {
        if (YAJL_IS_NULL(value))
                return true;
        if (key->each)
                return json_walk_array(value, key->each, member, error);
        return !key->handler || key->handler(value, member, error);
}

bool json_walk_object(yajl_val value, const JsonKey *keys, void *object, GError **error) {
        if (!YAJL_IS_OBJECT(value))
                return error_set(error, KT_ERROR_FAILED, "an object is wanted here");
        for (size_t i = 0; i < value->u.object.len; i++) {
                const char *name = value->u.object.keys[i];
                const JsonKey *key = find_key(keys, name);

                if (!key && !g_ascii_isalpha(name[0]))
                        continue;
                if (!key)
                        return error_set(error, KT_ERROR_FAILED, "unknown key '%s'", name);
                if (!handle(key, value->u.object.values[i], (char *) object + key->member, error)) {
                        g_autofree char *place = g_strconcat(".", key->name, NULL);

                        prefix_place(error, place);
                        return false;
                }
        }
        return true;
}

bool json_walk_array(yajl_val value, JsonHandler handler, void *object, GError **error) {
        if (!YAJL_IS_ARRAY(value))
                return error_set(error, KT_ERROR_FAILED, "an array is wanted here");
        for (size_t i = 0; i < value->u.array.len; i++)
                if (!handler(value->u.array.values[i], object, error)) {
                        g_autofree char *place = g_strdup_printf("[%zu]", i);

                        prefix_place(error, place);
                        return false;
                }
        return true;
}

bool json_get_string(yajl_val value, void *ret_string, GError **error) {
        if (!YAJL_IS_STRING(value))
                return error_set(error, KT_ERROR_FAILED, "a string is wanted here");
        *(const char **) ret_string = YAJL_GET_STRING(value);
        return true;
}

bool json_copy_string(yajl_val value, void *string, GError **error) {
        const char *text = NULL;

        if (!json_get_string(value, &text, error))
                return false;
        g_free(*(char **) string);
        *(char **) string = g_strdup(text);
        return true;
}

bool json_copy_path(yajl_val value, void *path, GError **error) {
        char *const *copy = path;

        return json_copy_string(value, path, error) &&
               ((*copy)[0] == '/' || error_set(error, KT_ERROR_FAILED, "'%s' is not an absolute path", *copy));
}

/* From the digits: yajl's own integer is signed, and arguments of system calls use all 64 bits. */
bool json_get_number(yajl_val value, guint64 max, guint64 *ret, GError **error) {
        if (!YAJL_IS_NUMBER(value))
                return error_set(error, KT_ERROR_FAILED, "a number is wanted here");
        if (!g_ascii_string_to_unsigned(YAJL_GET_NUMBER(value), 10, 0, max, ret, NULL))
                return error_set(error, KT_ERROR_FAILED, "%s is no whole number from 0 to %" G_GUINT64_FORMAT,
                                 YAJL_GET_NUMBER(value), max);
        return true;
}

static bool append_string(yajl_val value, void *strings, GError **error) {
        const char *string = NULL;

        if (!json_get_string(value, &string, error))
                return false;
        g_ptr_array_add(strings, g_strdup(string));
        return true;
}

bool json_append_strings(yajl_val value, void *array, GError **error) {
        return json_walk_array(value, append_string, *(GPtrArray **) array, error);
}
