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

static void unknown_key(Container *container, const UnitLine *line, const UnitSection *section,
                        const Key *keys, size_t n_keys) {
        const Key *meant = nearest(line->key, keys, n_keys);

        if (meant)
                container_problem(container, line, "unknown key in [%s]; is '%s=' meant?", section->name,
                                  meant->name);
        else
                container_problem(container, line, "unknown key in [%s]", section->name);
}

/* The lines of each key, at its place in the table; NULL where there are none. */
static void sort_lines(Container *container, const UnitSection *section, const Key *keys, size_t n_keys,
                       GPtrArray **lines) {
        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                const Key *key;

                if (!line->key)
                        continue;
                key = bsearch(line->key, keys, n_keys, sizeof *keys, compare_key);
                if (!key) {
                        unknown_key(container, line, section, keys, n_keys);
                        continue;
                }
                if (!lines[key - keys])
                        lines[key - keys] = g_ptr_array_new();
                g_ptr_array_add(lines[key - keys], (void *) line);
        }
}

/* An empty assignment at the end takes everything back, in a drop-in for example. */
static void refuse(Container *container, const Key *key, const GPtrArray *lines) {
        const UnitLine *last = lines->pdata[lines->len - 1];

        if (last->value[0])
                container_problem(container, last, "not supported: %s", key->text);
}

static void apply(Container *container, const Key *key, const GPtrArray *lines) {
        g_autoptr(GArray) values = values_new();
        g_autoptr(GError) error = NULL;
        const UnitLine *bad = NULL;

        if (!key->handle) {
                refuse(container, key, lines);
                return;
        }
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
        g_autofree GPtrArray **lines = g_new0(GPtrArray *, n_keys);

        sort_lines(container, section, keys, n_keys, lines);
        for (size_t i = 0; i < n_keys; i++)
                if (lines[i]) {
                        apply(container, &keys[i], lines[i]);
                        g_ptr_array_unref(lines[i]);
                }
}
