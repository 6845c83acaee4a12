/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "libstart/ctl/profile/profile-diff.h"
#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/profile/flame-stacks.h"
#include "libstart/ctl/profile/parts.h"
#include "libstart/table/table.h"

enum { N_CHANGES = 10 };

typedef struct Side {
        FlameFrame *root;
        double msec;
} Side;

typedef struct Change {
        const char *part, *function; /* borrowed */
        double msec[2];              /* before and after */
} Change;

static bool read_side(const char *file, Side *ret, GError **error) {
        g_autofree char *text = NULL;
        size_t length = 0;

        if (!file_read(file, &text, &length, error))
                return false;
        if (!text)
                return error_set(error, KT_ERROR_NOT_FOUND, "'%s' is not there", file);
        ret->root = flame_stacks_read(text, length, &ret->msec, error);
        if (!ret->root)
                g_prefix_error(error, "'%s': ", file);
        return ret->root;
}

static const FlameFrame *find_part(const Side *side, const char *part) {
        return side->root->by_name ? g_hash_table_lookup(side->root->by_name, part) : NULL;
}

static int compare_changes(const void *a, const void *b) {
        const Change *x = a, *y = b;
        double of_x = ABS(x->msec[1] - x->msec[0]), of_y = ABS(y->msec[1] - y->msec[0]);

        return of_x < of_y ? 1 : of_x > of_y ? -1 : g_strcmp0(x->function, y->function);
}

/* The functions of one part, each once. */
static void find_changes(const Side sides[2], const char *part, GArray *changes) {
        g_autoptr(GHashTable) found = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        GHashTableIter iter;
        void *change;

        for (int i = 0; i < 2; i++) {
                const FlameFrame *frame = find_part(&sides[i], part);
                g_autoptr(GArray) tips = frame ? flame_find_tips(frame) : NULL;

                for (guint j = 0; tips && j < tips->len; j++) {
                        const FlameTip *tip = &g_array_index(tips, FlameTip, j);
                        Change *one = g_hash_table_lookup(found, tip->name);

                        if (!one) {
                                one = g_new0(Change, 1);
                                *one = (Change) { .part = part, .function = tip->name };
                                g_hash_table_insert(found, (void *) tip->name, one);
                        }
                        one->msec[i] = (double) tip->samples * sides[i].msec;
                }
        }
        g_hash_table_iter_init(&iter, found);
        while (g_hash_table_iter_next(&iter, NULL, &change))
                g_array_append_vals(changes, change, 1);
}

static void add_row(Table *table, const Change *change) {
        table_add(table, g_strdup(change->part), g_strdup(change->function), g_strdup_printf("%.3f", change->msec[0]),
                  g_strdup_printf("%.3f", change->msec[1]),
                  g_strdup_printf("%.3f", change->msec[1] - change->msec[0]));
}

static void print_table(const Side sides[2], bool json) {
        static const char *const columns[] = { "PART", "FUNCTION", "#BEFORE", "#AFTER", "#CHANGE", NULL };
        g_autoptr(Table) table = table_new(columns);
        g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));

        for (int part = 0; part < N_PARTS; part++) {
                Change whole = { .part = part_names[part] };
                bool is_there = false;

                for (int i = 0; i < 2; i++) {
                        const FlameFrame *frame = find_part(&sides[i], part_names[part]);

                        whole.msec[i] = frame ? (double) frame->samples * sides[i].msec : 0;
                        is_there |= frame != NULL;
                }
                if (is_there)
                        add_row(table, &whole);
                if (part != PART_IDLE)
                        find_changes(sides, part_names[part], changes);
        }
        g_array_sort(changes, compare_changes);
        for (guint i = 0; i < MIN(changes->len, N_CHANGES); i++)
                add_row(table, &g_array_index(changes, Change, i));
        table_print(table, json);
}

static bool show(const Side sides[2], const Options *options, char *const *files, GError **error) {
        const FlameBefore before = { sides[0].root, sides[0].msec };
        g_autofree char *title = g_strdup_printf("%s, and what has changed since %s", files[1], files[0]),
                        *svg = NULL;

        print_table(sides, options->json);
        if (!options->output)
                return true;
        svg = flame_format_svg(sides[1].root, title, part_names, part_colours, sides[1].msec, &before);
        return g_file_set_contents_full(options->output, svg, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);
}

bool profile_diff(const Options *options, char **files, GError **error) {
        Side sides[2] = { { 0 } };
        bool ok;

        if (options->starts > 0 || options->seconds > 0 || g_strv_length(files) != 2)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'profile --diff' takes two pictures that --output has made, and neither --starts nor "
                        "--seconds");
        ok = read_side(files[0], &sides[0], error) && read_side(files[1], &sides[1], error) &&
             show(sides, options, files, error);
        for (int i = 0; i < 2; i++)
                if (sides[i].root)
                        flame_free(sides[i].root);
        return ok;
}
