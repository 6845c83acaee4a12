/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/ctl/analyze/boot-plot.h"
#include "libstart/ctl/analyze/commands.h"
#include "libstart/ctl/analyze/phases.h"
#include "libstart/table/table.h"

static void clear_row(void *data) {
        g_clear_pointer(&((PlotRow *) data)->phases, g_array_unref);
}

/* NULL where it has not been started, or has ended, and systemd has removed the directory. */
static GArray *read_phases(const ContainerUnit *container) {
        g_autofree char *directory = container_unit_state_dir(container);
        g_autofree char *path = g_build_filename(directory, ".timing", NULL);
        g_autofree char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? phases_parse(text) : NULL;
}

static int compare_sums(const void *a, const void *b) {
        guint64 x = phases_sum(((const PlotRow *) a)->phases), y = phases_sum(((const PlotRow *) b)->phases);

        return x < y ? 1 : x > y ? -1 : 0;
}

static void print_text(const PlotRow *rows, guint n) {
        for (guint i = 0; i < n; i++) {
                g_autofree char *text = phases_format(rows[i].title, rows[i].phases, 48);

                fputs(text, stdout);
        }
}

static void print_json(const PlotRow *rows, guint n) {
        static const char *const columns[] = { "UNIT", "PHASE", "#USEC", NULL };
        g_autoptr(Table) table = table_new(columns);

        for (guint i = 0; i < n; i++)
                for (guint j = 0; j < rows[i].phases->len; j++) {
                        const Phase *phase = &g_array_index(rows[i].phases, Phase, j);

                        table_add(table, g_strdup(rows[i].title), g_strdup(phase->name),
                                  g_strdup_printf("%" G_GUINT64_FORMAT, phase->usec));
                }
        table_print(table, true);
}

static void print_svg(const PlotRow *rows, guint n) {
        g_autofree char *svg = phases_format_svg(rows, n);

        fputs(svg, stdout);
}

static int compare_begins(const void *a, const void *b) {
        const PlotRow *x = a, *y = b;

        return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Of those that have been started again since, systemd does not know the first start any more. */
static int plot_boot(const GPtrArray *all, GArray *rows, GError **error) {
        BootTimes boot;

        if (!boot_times_read(&boot, error))
                return -1;
        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *c = all->pdata[i];

                if (c->start > 0 && (boot.finish == 0 || c->begin <= boot.finish)) {
                        const PlotRow row = { c->unit, read_phases(c), c->begin, c->end, c->main_start };

                        g_array_append_val(rows, row);
                }
        }
        if (rows->len == 0)
                return error_negative(
                        error, KT_ERROR_NOT_FOUND,
                        "No container has been started at boot, and not again since: name one for its last start");
        g_array_sort(rows, compare_begins);
        g_autofree char *svg = boot_plot_format((const PlotRow *) (void *) rows->data, rows->len, boot.userspace,
                                                boot.finish);
        fputs(svg, stdout);
        return 0;
}

/* Does this kernel let those who change mounts and namespaces wait for whole grace periods of RCU? One with
 * PREEMPT_RT does so after the boot, if not told otherwise (Documentation/admin-guide/kernel-parameters.txt,
 * rcupdate.rcu_normal_after_boot). A start has several such changes. The normal way counts even where rcu_expedited
 * is set, too. */
static bool rcu_is_slow(void) {
        g_autofree char *text = NULL;

        return g_file_get_contents("/sys/kernel/rcu_normal", &text, NULL, NULL) &&
               g_ascii_strtoll(text, NULL, 10) > 0;
}

int command_analyze(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *only = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PlotRow));

        if (words[0] && !only)
                return -1;
        g_array_set_clear_func(rows, clear_row);
        if (options->svg && !only)
                return plot_boot(all, rows, error);
        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];
                PlotRow row = { .title = container->unit };

                if ((!only || only == container) && (row.phases = read_phases(container)))
                        g_array_append_val(rows, row);
        }
        if (rows->len == 0) {
                g_autofree char *logs = only ? container_unit_print_logs(only) : NULL;

                if (only)
                        error_set(error, KT_ERROR_NOT_FOUND,
                                  "%s is not running: there is no start to look at; see %s", only->unit, logs);
                else
                        error_set(error, KT_ERROR_NOT_FOUND,
                                  "No container is running: there is no start to look at; see keyturnctl list");
                return -1;
        }
        g_array_sort(rows, compare_sums);
        (options->json ? print_json :
         options->svg  ? print_svg :
                         print_text)((const PlotRow *) (void *) rows->data, rows->len);
        if (rcu_is_slow())
                log_notice("This kernel lets every change of mounts and namespaces wait for RCU "
                           "(/sys/kernel/rcu_normal is 1), which makes all starts slower; put "
                           "rcupdate.rcu_normal_after_boot=0 on its command line: see SYSTEMS in keyturn(7)");
        return 0;
}
