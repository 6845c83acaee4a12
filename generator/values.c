/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/values.h"
#include "generator/words.h"
#include "libstart/base/error.h"

static void value_clear(void *data) {
        g_free(((Value *) data)->text);
}

GArray *values_new(void) {
        GArray *values = g_array_new(FALSE, FALSE, sizeof(Value));

        g_array_set_clear_func(values, value_clear);
        return values;
}

/* Takes ownership of text. */
static void add(GArray *values, char *text, const UnitLine *line) {
        Value value = { text, line };

        g_array_append_val(values, value);
}

char *value_unquote(const char *text) {
        size_t length = strlen(text);

        if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
                return g_strndup(text + 1, length - 2);
        return g_strdup(text);
}

bool value_parse_boolean(const char *text, bool *ret, GError **error) {
        static const char *const yes[] = { "1", "yes", "true", "on" }, *const no[] = { "0", "no", "false", "off" };

        for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
                if (g_ascii_strcasecmp(text, yes[i]) == 0)
                        return *ret = true;
                if (g_ascii_strcasecmp(text, no[i]) == 0) {
                        *ret = false;
                        return true;
                }
        }
        return error_set(error, KT_ERROR_USAGE, "'%s' is neither yes (1, true, on) nor no (0, false, off)", text);
}

static bool read_boolean(GArray *values, const UnitLine *line, GError **error) {
        g_autofree char *text = value_unquote(line->value);
        bool value = false;

        if (!value_parse_boolean(text, &value, error))
                return false;
        add(values, g_strdup(value ? "true" : "false"), line);
        return true;
}

static bool read_words(GArray *values, const UnitLine *line, WordsSyntax syntax, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!words_split(words, line->value, syntax, error))
                return false;
        for (guint i = 0; i < words->len; i++)
                add(values, words->pdata[i], line);
        g_ptr_array_set_free_func(words, NULL); /* they are the values' now */
        return true;
}

static size_t key_length(const char *pair) {
        return strcspn(pair, "=");
}

static int compare_pairs(gconstpointer a, gconstpointer b) {
        const char *left = ((const Value *) a)->text, *right = ((const Value *) b)->text;
        size_t left_length = key_length(left), right_length = key_length(right);
        int r = memcmp(left, right, MIN(left_length, right_length));

        return r != 0 ? r : (left_length > right_length) - (left_length < right_length);
}

/* g_array_sort() is stable, so that the last of equal keys is the one assigned last. */
static void sort_pairs(GArray *values) {
        GArray *all = values_new();

        g_array_append_vals(all, values->data, values->len);
        g_array_set_clear_func(values, NULL);
        g_array_set_size(values, 0);
        g_array_set_clear_func(values, value_clear);
        g_array_sort(all, compare_pairs);
        for (guint i = 0; i < all->len; i++) {
                Value *value = &g_array_index(all, Value, i);

                if (i + 1 < all->len && compare_pairs(value, value + 1) == 0)
                        continue;
                add(values, g_steal_pointer(&value->text), value->line);
        }
        g_array_unref(all);
}

static bool read_line(GArray *values, const UnitLine *line, Read read, GError **error) {
        switch (read) {
        case READ_LAST:
        case READ_LAST_SET: {
                g_autofree char *text = value_unquote(line->value);

                if (text[0] || read == READ_LAST_SET)
                        add(values, g_steal_pointer(&text), line);
                return true;
        }
        case READ_BOOLEAN:
                return read_boolean(values, line, error);
        case READ_LINES:
                add(values, g_strdup(line->value), line);
                return true;
        case READ_WORDS:
                return read_words(values, line, WORDS_PLAIN, error);
        case READ_ARGS:
        case READ_LAST_ARGS:
        case READ_PAIRS:
                return read_words(values, line, WORDS_ESCAPED, error);
        }
        g_return_val_if_reached(false);
}

static guint first_line(const GPtrArray *lines, Read read) {
        switch (read) {
        case READ_LAST:
        case READ_LAST_SET:
        case READ_BOOLEAN:
        case READ_LAST_ARGS:
                return lines->len - 1;
        default:
                for (guint i = lines->len; i > 0; i--)
                        if (((const UnitLine *) lines->pdata[i - 1])->value[0] == '\0')
                                return i;
                return 0;
        }
}

bool values_read(GArray *values, const GPtrArray *lines, Read read, const UnitLine **ret_line, GError **error) {
        for (guint i = first_line(lines, read); i < lines->len; i++)
                if (!read_line(values, lines->pdata[i], read, error)) {
                        *ret_line = lines->pdata[i];
                        return false;
                }
        if (read == READ_PAIRS)
                sort_pairs(values);
        return true;
}
