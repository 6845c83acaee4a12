/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "generator/files/misplaced-keys.h"
#include "generator/unit/keys.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"

/*
 * From lines to values
 */

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

/* Words that only the payload reads: Podman loses a line with an unknown escape, systemd takes it as it is. In
 * others, paths to mask for example, that could mean less than was meant. */
static bool is_relaxed(Read read) {
        return read == READ_LAST_ARGS || read == READ_PAIRS;
}

static bool split(GPtrArray *words, Conversion *container, const UnitLine *line, Read read, GError **error) {
        g_autoptr(GError) strict = NULL;

        if (!is_relaxed(read))
                return words_split(words, line->value, read == READ_WORDS ? WORDS_PLAIN : WORDS_ESCAPED, error);
        if (words_split(words, line->value, WORDS_ESCAPED, &strict))
                return true;
        if (!words_split(words, line->value, WORDS_RELAXED, error))
                return false;
        if (container) /* else it is said already */
                conversion_difference(container, line, "%s stands for itself", strict->message);
        return true;
}

/* Of pairs, an empty word says nothing. */
static bool read_words(GArray *values, Conversion *container, const UnitLine *line, Read read, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!split(words, container, line, read, error))
                return false;
        for (guint i = 0; i < words->len; i++) {
                char *word = words->pdata[i];

                if (word[0] || read != READ_PAIRS)
                        add_value(values, word, line);
                else
                        g_free(word);
        }
        g_ptr_array_set_free_func(words, NULL); /* they are the values' now */
        return true;
}

static bool read_line(GArray *values, Conversion *container, const UnitLine *line, Read read, GError **error) {
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
        case READ_ARGS:
        case READ_LAST_ARGS:
        case READ_PAIRS:
                return read_words(values, container, line, read, error);
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

/* How many slips are too many: with two, hardly anything is left of a word of three letters. */
static size_t too_many(const char *name) {
        return MIN(strlen(name) / 2 + 1, NO_SLIP);
}

bool keys_is_slip(const char *name, const char *meant) {
        return strlen(name) <= LENGTH_MAX && distance(name, meant) < too_many(name);
}

/* The key that may be meant, or NULL. */
static const Key *find_meant(const char *name, const KeyTable *table) {
        const Key *meant = NULL;
        size_t best = too_many(name);

        for (size_t i = 0; i < table->n_keys && strlen(name) <= LENGTH_MAX; i++) {
                size_t d = distance(name, table->keys[i].name);

                if (d < best) {
                        meant = &table->keys[i];
                        best = d;
                }
        }
        return meant;
}

static void unknown_key(Conversion *container, const UnitLine *line, const KeyTable *table) {
        const char *advice = g_str_equal(table->section, "Container") ? misplaced_key_advice(line->key) : NULL;
        const Key *meant = find_meant(line->key, table);

        if (table->is_open) {
                if (meant && !g_str_has_prefix(line->key, "X-")) /* those are others' */
                        conversion_warning(container, line, "unknown key in [%s], ignoring; is '%s=' meant?",
                                           table->section, meant->name);
        } else if (advice)
                conversion_problem(container, line, "unknown key in [%s]: %s", table->section, advice);
        else if (meant)
                conversion_problem(container, line, "unknown key in [%s]; is '%s=' meant?", table->section,
                                   meant->name);
        else
                conversion_problem(container, line, "unknown key in [%s]", table->section);
}

typedef struct Assignment {
        const Key *key;
        const UnitLine *line;
} Assignment;

static int compare_assignments(gconstpointer a, gconstpointer b) {
        const Assignment *left = a, *right = b;

        return (left->key > right->key) - (left->key < right->key);
}

/* In the order of the table, those of one key (g_array_sort() is stable) in that of the file. With a conversion, what
 * is wrong with a key's name is said. */
static GArray *find_assignments(Conversion *container, const UnitSection *section, const KeyTable *table) {
        GArray *assignments = g_array_sized_new(FALSE, FALSE, sizeof(Assignment), section->lines->len);

        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                Assignment assignment = { .line = line };

                if (!line->key)
                        continue;
                assignment.key = bsearch(line->key, table->keys, table->n_keys, sizeof *table->keys, compare_key);
                if (assignment.key)
                        g_array_append_val(assignments, assignment);
                else if (container)
                        unknown_key(container, line, table);
        }
        g_array_sort(assignments, compare_assignments);
        return assignments;
}

/* Does the line of a refused key say what keyturn does anyway? So does an empty one, which takes everything back, in
 * a drop-in for example. */
static bool is_fine(const Key *key, const char *text) {
        g_auto(GStrv) fine = key->fine ? g_strsplit(key->fine, " ", -1) : NULL;
        bool value;

        if (!text[0])
                return true;
        if (fine && key->read == READ_BOOLEAN && key_parse_boolean(text, &value, NULL))
                text = value ? "true" : "false";
        return fine && g_strv_contains((const char *const *) fine, text);
}

static void refuse(Conversion *container, const Key *key, const UnitLine *line) {
        g_autofree char *text = words_unquote(line->value);

        if (!is_fine(key, text))
                conversion_refusal(container, line, key->text);
}

/* The first of the n lines of a key that counts. */
static guint first_line(const Assignment *lines, guint n, Read read) {
        if (n == 0)
                return 0;
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

/* Of all that becomes a word of a command. systemd's own words name a line that nobody wrote. */
static void check_specifiers(Conversion *container, const UnitLine *line) {
        const char *unknown = specifiers_find_unknown(line->value);

        if (unknown)
                conversion_problem(container, line,
                                   "'%.2s': systemd knows no such specifier, and would not load the service; write "
                                   "%%%% for a percent sign",
                                   unknown);
}

/* The values of the lines of a key; of pairs, sorted. With a conversion, what is wrong with a line is said. */
static void read_lines(GArray *values, Conversion *container, const Key *key, const Assignment *lines, guint n) {
        for (guint i = first_line(lines, n, key->read); i < n; i++) {
                g_autoptr(GError) error = NULL;

                if (!read_line(values, container, lines[i].line, key->read, &error) && container)
                        conversion_problem(container, lines[i].line, "%s", error->message);
                else if (container)
                        check_specifiers(container, lines[i].line);
        }
        if (key->read == READ_PAIRS)
                sort_pairs(values);
}

GPtrArray *keys_find_values(Conversion *container, const KeyTable *table, const char *name) {
        const UnitSection *section = unit_file_section(container->source->unit, table->section);
        const Key *key = bsearch(name, table->keys, table->n_keys, sizeof *key, compare_key);
        const KeyTable only = { table->section, key, 1 };
        g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(Value)), lines = NULL;
        GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);

        g_return_val_if_fail(key, texts);
        if (!section)
                return texts;
        g_array_set_clear_func(values, value_clear);
        lines = find_assignments(NULL, section, &only);
        read_lines(values, NULL, key, (const Assignment *) (void *) lines->data, lines->len);
        for (guint i = 0; i < values->len; i++)
                g_ptr_array_add(texts, g_strdup(g_array_index(values, Value, i).text));
        return texts;
}

/* `values` is memory to use. */
static void apply_key(Conversion *container, const Key *key, const Assignment *lines, guint n, GArray *values) {
        g_array_set_size(values, 0);
        if (key->handle)
                read_lines(values, container, key, lines, n);
        else
                for (guint i = first_line(lines, n, key->read); i < n; i++)
                        refuse(container, key, lines[i].line);
        for (guint i = 0; i < values->len; i++) {
                const Value *value = &g_array_index(values, Value, i);
                g_autoptr(GError) error = NULL;

                /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every row of the table has one */
                if (!key->handle(container, key, value, &error))
                        conversion_problem(container, value->line, "%s", error->message);
        }
}

void keys_apply(Conversion *container, const KeyTable *table) {
        const UnitSection *section = unit_file_section(container->source->unit, table->section);
        g_autoptr(GArray) assignments = NULL, values = NULL;

        if (!section)
                return;
        assignments = find_assignments(container, section, table);
        values = g_array_new(FALSE, FALSE, sizeof(Value));
        g_array_set_clear_func(values, value_clear);
        for (guint start = 0, i = 0; i < assignments->len; i++) {
                const Assignment *all = (const Assignment *) (void *) assignments->data;

                if (i + 1 < assignments->len && all[i + 1].key == all[start].key)
                        continue;
                apply_key(container, all[start].key, all + start, i + 1 - start, values);
                start = i + 1;
        }
}

bool keys_apply_value(Conversion *container, const char *name, const char *text, const UnitLine *line,
                      GError **error) {
        const Key *key = bsearch(name, container->keys->keys, container->keys->n_keys, sizeof *key, compare_key);
        Value value = { .text = (char *) text, .line = line };
        bool flag;

        g_return_val_if_fail(key, false);
        if (key->read == READ_BOOLEAN) {
                if (!key_parse_boolean(text, &flag, error))
                        return false;
                value.text = (char *) (flag ? "true" : "false");
        }
        if (key->handle)
                return key->handle(container, key, &value, error);
        return is_fine(key, value.text) || error_set(error, KT_ERROR_UNSUPPORTED, "not supported: %s", key->text);
}

/*
 * [Quadlet], of all kinds of files
 */

/* In Podman it switches off dependencies on network-online.target. Only what pulls an image waits for that. */
static bool handle_default_dependencies(Conversion *container, const Key *key, const Value *value, GError **error) {
        container->image.is_offline = g_str_equal(value->text, "false");
        return true;
}

static const Key quadlet_keys[] = {
        { "DefaultDependencies", READ_BOOLEAN, handle_default_dependencies, NULL },
};

const KeyTable keys_quadlet = { "Quadlet", quadlet_keys, G_N_ELEMENTS(quadlet_keys) };
