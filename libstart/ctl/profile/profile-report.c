/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/profile/profile-report.h"
#include "libstart/base/output-file.h"
#include "libstart/ctl/profile/parts.h"
#include "libstart/table/table.h"

enum { N_TIPS = 10 };

typedef struct Report {
        Table *table;
        const FlameGraph *graphs;
        guint64 busy; /* samples of processors that were not idle */
} Report;

/* samples: of both graphs. */
static void add_row(const Report *report, const char *part, const char *function, const guint64 *samples) {
        double before = (double) samples[0] * report->graphs[0].msec,
               after = (double) samples[1] * report->graphs[1].msec;

        if (report->graphs[0].root)
                table_add(report->table, g_strdup(part), g_strdup(function), g_strdup_printf("%.3f", before),
                          g_strdup_printf("%.3f", after), g_strdup_printf("%.3f", after - before));
        else
                table_add(report->table, g_strdup(part), g_strdup(function), g_strdup_printf("%.3f", after),
                          g_str_equal(part, part_looks[PART_IDLE].name) ?
                                  NULL :
                                  g_strdup_printf("%.1f", (double) samples[1] * 100 / (double) MAX(report->busy, 1)));
}

static guint64 count(const FlameGraph *graph, Part part) {
        const FlameFrame *frame = flame_find(graph->root, part_looks[part].name);

        return frame ? frame->samples : 0;
}

static void print_table(const FlameGraph graphs[2], bool json) {
        static const char *const columns[] = { "PART", "FUNCTION", "#MS", "#PERCENT", NULL };
        static const char *const compared[] = { "PART", "FUNCTION", "#BEFORE", "#AFTER", "#CHANGE", NULL };
        g_autoptr(Table) table = table_new(graphs[0].root ? compared : columns);
        g_autoptr(GArray) tips = flame_find_tips(graphs);
        const Report report = { table, graphs, graphs[1].root->samples - count(&graphs[1], PART_IDLE) };

        for (Part part = 0; part < N_PARTS; part++) {
                const guint64 samples[] = { count(&graphs[0], part), count(&graphs[1], part) };

                if (samples[0] > 0 || samples[1] > 0)
                        add_row(&report, part_looks[part].name, NULL, samples);
        }
        for (guint i = 0; i < MIN(tips->len, N_TIPS); i++) {
                const FlameTip *tip = &g_array_index(tips, FlameTip, i);

                add_row(&report, tip->part, tip->function, tip->samples);
        }
        table_print(table, json);
}

bool profile_report(const FlameGraph graphs[2], const char *title, const Options *options, GError **error) {
        g_autofree char *svg = NULL;

        print_table(graphs, options->json);
        if (!options->output)
                return true;
        svg = flame_format_svg(graphs, title);
        return output_file_write(options->output, svg, error);
}
