/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "generator/keys.h"

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

static const Key *nearest(const char *name, const Key *keys, size_t n_keys) {
        const Key *best = NULL;
        size_t best_distance = 3; /* two slips are a slip, three are another word */

        if (strlen(name) > 64)
                return NULL;
        for (size_t i = 0; i < n_keys; i++) {
                size_t d = distance(name, keys[i].name);

                if (d < best_distance) {
                        best = &keys[i];
                        best_distance = d;
                }
        }
        return best;
}

static void unknown_key(Container *container, const UnitLine *line, const UnitSection *section, const Key *keys,
                        size_t n_keys) {
        const Key *meant = nearest(line->key, keys, n_keys);

        if (meant)
                container_problem(container, line, "unknown key in [%s]; is '%s=' meant?", section->name,
                                  meant->name);
        else
                container_problem(container, line, "unknown key in [%s]", section->name);
}

typedef struct Assignment {
        const Key *key;
        const UnitLine *line;
} Assignment;

static int compare_places(gconstpointer a, gconstpointer b) {
        const Assignment *left = a, *right = b;

        return (left->key > right->key) - (left->key < right->key);
}

/* In the order of the table, those of one key (g_array_sort() is stable) in that of the file. */
static GArray *sort_assignments(Container *container, const UnitSection *section, const Key *keys, size_t n_keys) {
        GArray *assignments = g_array_sized_new(FALSE, FALSE, sizeof(Assignment), section->lines->len);

        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                Assignment assignment = { .line = line };

                if (!line->key)
                        continue;
                assignment.key = bsearch(line->key, keys, n_keys, sizeof *keys, compare_key);
                if (assignment.key)
                        g_array_append_val(assignments, assignment);
                else
                        unknown_key(container, line, section, keys, n_keys);
        }
        g_array_sort(assignments, compare_places);
        return assignments;
}

/* An empty assignment at the end takes everything back, in a drop-in for example. */
static void refuse(Container *container, const Key *key, const GPtrArray *lines) {
        const UnitLine *last = lines->pdata[lines->len - 1];

        if (last->value[0])
                container_problem(container, last, "not supported: %s", key->text);
}

/* `values` is memory to use. */
static void apply(Container *container, const Key *key, const GPtrArray *lines, GArray *values) {
        g_autoptr(GError) error = NULL;
        const UnitLine *bad = NULL;

        if (!key->handle) {
                refuse(container, key, lines);
                return;
        }
        g_array_set_size(values, 0);
        if (!values_read(values, lines, key->read, &bad, &error)) {
                container_problem(container, bad, "%s", error->message);
                return;
        }
        for (guint i = 0; i < values->len; i++) {
                const Value *value = &g_array_index(values, Value, i);

                if (!key->handle(container, key, value, &error)) {
                        container_problem(container, value->line, "%s", error->message);
                        g_clear_error(&error);
                }
        }
}

void keys_apply(Container *container, const UnitSection *section, const Key *keys, size_t n_keys) {
        g_autoptr(GArray) assignments = sort_assignments(container, section, keys, n_keys);
        g_autoptr(GPtrArray) lines = g_ptr_array_new();
        g_autoptr(GArray) values = values_new();

        for (guint i = 0; i < assignments->len; i++) {
                const Assignment *assignment = &g_array_index(assignments, Assignment, i);

                g_ptr_array_add(lines, (void *) assignment->line);
                if (i + 1 < assignments->len && assignment[1].key == assignment->key)
                        continue;
                apply(container, assignment->key, lines, values);
                g_ptr_array_set_size(lines, 0);
        }
}
