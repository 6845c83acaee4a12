/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "generator/keys.h"
#include "generator/words.h"
#include "libstart/base/error.h"

/*
 * From lines to values
 */

bool key_parse_boolean(const char *text, bool *ret, GError **error) {
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

static void value_clear(void *data) {
        g_free(((Value *) data)->text);
}

/* Takes ownership of text. */
static void add_value(GArray *values, char *text, const UnitLine *line) {
        Value value = { text, line };

        g_array_append_val(values, value);
}

/* An empty one is false for Podman, also where true is the default. */
static bool read_boolean(GArray *values, const UnitLine *line, GError **error) {
        g_autofree char *text = words_unquote(line->value);
        bool value = false;

        if (text[0] && !key_parse_boolean(text, &value, error))
                return false;
        add_value(values, g_strdup(value ? "true" : "false"), line);
        return true;
}

static bool read_words(GArray *values, const UnitLine *line, WordsSyntax syntax, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!words_split(words, line->value, syntax, error))
                return false;
        for (guint i = 0; i < words->len; i++)
                add_value(values, words->pdata[i], line);
        g_ptr_array_set_free_func(words, NULL); /* they are the values' now */
        return true;
}

static bool read_line(GArray *values, const UnitLine *line, Read read, GError **error) {
        switch (read) {
        case READ_LAST:
        case READ_LAST_SET: {
                g_autofree char *text = words_unquote(line->value);

                if (text[0] || read == READ_LAST_SET)
                        add_value(values, g_steal_pointer(&text), line);
                return true;
        }
        case READ_BOOLEAN:
                return read_boolean(values, line, error);
        case READ_LINES:
                add_value(values, g_strdup(line->value), line);
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

static int compare_pairs(gconstpointer a, gconstpointer b) {
        const char *left = ((const Value *) a)->text, *right = ((const Value *) b)->text;
        size_t left_length = strcspn(left, "="), right_length = strcspn(right, "=");
        int r = memcmp(left, right, MIN(left_length, right_length));

        return r != 0 ? r : (left_length > right_length) - (left_length < right_length);
}

/* g_array_sort() is stable, so that the last of equal keys is the one assigned last. */
static void sort_pairs(GArray *values) {
        guint n = 0;

        g_array_sort(values, compare_pairs);
        for (guint i = 0; i < values->len; i++) {
                Value *value = &g_array_index(values, Value, i);

                if (i + 1 < values->len && compare_pairs(value, value + 1) == 0)
                        continue;
                Value *kept = &g_array_index(values, Value, n++), swapped = *kept;
                *kept = *value;
                *value = swapped;
        }
        g_array_set_size(values, n);
}

/*
 * From keys to their handlers
 */

static int compare_key(const void *name, const void *key) {
        return strcmp(name, ((const Key *) key)->name);
}

/* How many letters must be inserted, removed or replaced to get from one to the other, case aside. */
static size_t distance(const char *a, const char *b) {
        size_t n = strlen(b);
        g_autofree size_t *row = g_new(size_t, n + 1);

        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t above = row[j];
                        bool same = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]);

                        row[j] = MIN(MIN(row[j], row[j - 1]) + 1, diagonal + !same);
                        diagonal = above;
                }
        }
        return row[n];
}

#define NO_SLIP 3     /* two slips are a slip, three are another word */
#define LENGTH_MAX 64 /* longer ones are no slip of anything */

bool keys_is_slip(const char *name, const char *meant) {
        return strlen(name) <= LENGTH_MAX && distance(name, meant) < NO_SLIP;
}

static void unknown_key(Container *container, const UnitLine *line, const KeyTable *table) {
        const Key *meant = NULL;
        size_t best = NO_SLIP;

        for (size_t i = 0; i < table->n_keys && strlen(line->key) <= LENGTH_MAX; i++) {
                size_t d = distance(line->key, table->keys[i].name);

                if (d < best) {
                        meant = &table->keys[i];
                        best = d;
                }
        }
        if (meant)
                container_problem(container, line, "unknown key in [%s]; is '%s=' meant?", table->section,
                                  meant->name);
        else
                container_problem(container, line, "unknown key in [%s]", table->section);
}

typedef struct Assignment {
        const Key *key;
        const UnitLine *line;
} Assignment;

static int compare_assignments(gconstpointer a, gconstpointer b) {
        const Assignment *left = a, *right = b;

        return (left->key > right->key) - (left->key < right->key);
}

/* In the order of the table, those of one key (g_array_sort() is stable) in that of the file. */
static GArray *find_assignments(Container *container, const UnitSection *section, const KeyTable *table) {
        GArray *assignments = g_array_sized_new(FALSE, FALSE, sizeof(Assignment), section->lines->len);

        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                Assignment assignment = { .line = line };

                if (!line->key)
                        continue;
                assignment.key = bsearch(line->key, table->keys, table->n_keys, sizeof *table->keys, compare_key);
                if (assignment.key)
                        g_array_append_val(assignments, assignment);
                else if (!table->is_open)
                        unknown_key(container, line, table);
        }
        g_array_sort(assignments, compare_assignments);
        return assignments;
}

/* The first of the n lines of a key that counts. */
static guint first_line(const Assignment *lines, guint n, Read read) {
        switch (read) {
        case READ_LAST:
        case READ_LAST_SET:
        case READ_BOOLEAN:
        case READ_LAST_ARGS:
                return n - 1;
        default:
                for (guint i = n; i > 0; i--)
                        if (lines[i - 1].line->value[0] == '\0')
                                return i;
                return 0;
        }
}

/* `values` is memory to use. */
static void apply_key(Container *container, const Key *key, const Assignment *lines, guint n, GArray *values) {
        g_autoptr(GError) error = NULL;

        g_array_set_size(values, 0);
        for (guint i = first_line(lines, n, key->read); i < n; i++) {
                const UnitLine *line = lines[i].line;

                if (!key->handle) {
                        if (line->value[0]) /* an empty one takes everything back, in a drop-in for example */
                                container_problem(container, line, "not supported: %s", key->text);
                } else if (!read_line(values, line, key->read, &error)) {
                        container_problem(container, line, "%s", error->message);
                        g_clear_error(&error);
                }
        }
        if (key->read == READ_PAIRS)
                sort_pairs(values);
        for (guint i = 0; i < values->len; i++) {
                const Value *value = &g_array_index(values, Value, i);

                /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every row of the table has one */
                if (!key->handle(container, key, value, &error)) {
                        container_problem(container, value->line, "%s", error->message);
                        g_clear_error(&error);
                }
        }
}

void keys_apply(Container *container, const KeyTable *table) {
        const UnitSection *section = unit_file_section(container->source->unit, table->section);
        g_autoptr(GArray) assignments = NULL, values = NULL;

        if (!section)
                return;
        assignments = find_assignments(container, section, table);
        values = g_array_new(FALSE, FALSE, sizeof(Value));
        g_array_set_clear_func(values, value_clear);
        for (guint start = 0, i = 0; i < assignments->len; i++) {
                const Assignment *all = (const Assignment *) assignments->data;

                if (i + 1 < assignments->len && all[i + 1].key == all[start].key)
                        continue;
                apply_key(container, all[start].key, all + start, i + 1 - start, values);
                start = i + 1;
        }
}

/*
 * For handlers
 */

/* launch-args names the option in its errors; here it is the key that the user knows. */
static void strip_option(GError *error, const char *option) {
        g_autofree char *prefix = g_strdup_printf("--%s: ", option);

        if (g_str_has_prefix(error->message, prefix))
                memmove(error->message, error->message + strlen(prefix), strlen(error->message + strlen(prefix)) + 1);
}

bool key_set_option(Container *container, const char *option, const char *value, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (launch_args_set(container->args, option, value, &problem))
                return true;
        strip_option(problem, option);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

bool handle_option(Container *container, const Key *key, const Value *value, GError **error) {
        return key_set_option(container, key->text, value->text, error);
}

const char *key_last_option(const GPtrArray *options, const char *name) {
        size_t length = strlen(name);

        for (guint i = options->len; i > 0; i--) {
                const char *option = options->pdata[i - 1];

                if (g_str_has_prefix(option, name) && option[length] == '=')
                        return option + length + 1;
        }
        return NULL;
}
