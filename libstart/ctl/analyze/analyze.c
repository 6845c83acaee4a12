/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/ctl/analyze/boot-plot.h"
#include "libstart/ctl/analyze/commands.h"
#include "libstart/ctl/analyze/phases.h"
#include "libstart/ctl/analyze/slow-rcu.h"
#include "libstart/ctl/container/bus.h"
#include "libstart/table/table.h"

typedef struct Start {
        const ContainerUnit *container;
        GArray *phases;
} Start;

static void clear_start(void *data) {
        g_array_unref(((Start *) data)->phases);
}

/* NULL where it has not been started, or has ended, and systemd has removed the directory. */
static GArray *read_phases(const ContainerUnit *container) {
        g_autofree char *directory = container_unit_state_dir(container);
        g_autofree char *path = g_build_filename(directory, ".timing", NULL);
        g_autofree char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? phases_parse(text) : NULL;
}

static int compare_starts(const void *a, const void *b) {
        guint64 x = phases_sum(((const Start *) a)->phases), y = phases_sum(((const Start *) b)->phases);

        return x < y ? 1 : x > y ? -1 : 0;
}

static void print_text(const GArray *starts) {
        for (guint i = 0; i < starts->len; i++) {
                const Start *start = &g_array_index(starts, Start, i);
                g_autofree char *text = phases_format(start->container->unit, start->phases, 48);

                fputs(text, stdout);
        }
}

static void print_json(const GArray *starts) {
        static const char *const columns[] = { "UNIT", "PHASE", "#USEC", NULL };
        g_autoptr(Table) table = table_new(columns);

        for (guint i = 0; i < starts->len; i++) {
                const Start *start = &g_array_index(starts, Start, i);

                for (guint j = 0; j < start->phases->len; j++) {
                        const Phase *phase = &g_array_index(start->phases, Phase, j);

                        table_add(table, g_strdup(start->container->unit), g_strdup(phase->name),
                                  g_strdup_printf("%" G_GUINT64_FORMAT, phase->usec));
                }
        }
        table_print(table, true);
}

static void print_svg(const GArray *starts) {
        g_autofree const char **titles = g_new0(const char *, starts->len + 1);
        g_autofree GArray **phases = g_new0(GArray *, starts->len + 1);

        for (guint i = 0; i < starts->len; i++) {
                titles[i] = g_array_index(starts, Start, i).container->unit;
                phases[i] = g_array_index(starts, Start, i).phases;
        }
        g_autofree char *svg = phases_format_svg(titles, phases);
        fputs(svg, stdout);
}

static int compare_rows(const void *a, const void *b) {
        const BootPlotRow *x = a, *y = b;

        return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static GArray *find_phases(const GArray *starts, const ContainerUnit *container) {
        for (guint i = 0; i < starts->len; i++)
                if (g_array_index(starts, Start, i).container == container)
                        return g_array_index(starts, Start, i).phases;
        return NULL;
}

/* Of those that have been started again since, systemd does not know the first start any more. */
static int plot_boot(const GPtrArray *all, const GArray *starts, GError **error) {
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(BootPlotRow));
        sd_bus *bus = bus_open(error);
        BootTimes boot = { 0 };

        if (!bus)
                return -1;
        boot_times_read(bus, &boot);
        sd_bus_flush_close_unref(bus);
        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *c = all->pdata[i];
                const BootPlotRow row = { c->unit, c->begin, c->end, c->main_start, find_phases(starts, c) };

                if (c->start > 0 && (boot.finish == 0 || c->begin <= boot.finish))
                        g_array_append_val(rows, row);
        }
        if (rows->len == 0) {
                error_set(error, KT_ERROR_NOT_FOUND,
                          "No container has been started at boot, and not again since: name one for its last start");
                return -1;
        }
        g_array_sort(rows, compare_rows);
        g_autofree char *svg = boot_plot_format((const BootPlotRow *) (void *) rows->data, rows->len, boot.userspace,
                                                boot.finish);
        fputs(svg, stdout);
        return 0;
}

int command_analyze(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *only = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(Start));

        if (words[0] && (!only || words[1])) {
                if (only)
                        error_set(error, KT_ERROR_USAGE, "'analyze' takes one container, or none for all");
                return -1;
        }
        g_array_set_clear_func(starts, clear_start);
        for (guint i = 0; i < all->len; i++) {
                Start start = { .container = all->pdata[i] };

                if ((!only || only == start.container) && (start.phases = read_phases(start.container)))
                        g_array_append_val(starts, start);
        }
        if (options->svg && !only)
                return plot_boot(all, starts, error);
        if (starts->len == 0) {
                if (only)
                        error_set(error, KT_ERROR_NOT_FOUND,
                                  "%s is not running: there is no start to look at; see journalctl -u %s", only->unit,
                                  only->unit);
                else
                        error_set(error, KT_ERROR_NOT_FOUND,
                                  "No container is running: there is no start to look at; see keyturnctl list");
                return -1;
        }
        g_array_sort(starts, compare_starts);
        (options->json ? print_json : options->svg ? print_svg : print_text)(starts);
        if (slow_rcu_is_on())
                log_notice("%s", SLOW_RCU_HINT);
        return 0;
}
