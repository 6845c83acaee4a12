/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/ctl/container/commands.h"
#include "libstart/ctl/container/health.h"
#include "libstart/health/health-record.h"
#include "libstart/table/table.h"

/* Of a container that runs; NULL without an error where it has no health checks. Transfer full. */
static HealthRecord *read_record(const ContainerUnit *container, GError **error) {
        g_autofree char *root = container_unit_state_dir(container);
        g_autofree char *path = g_build_filename(root, HEALTH_RECORD_FILE, NULL), *text = NULL;
        g_autoptr(GError) problem = NULL;

        if (!g_file_get_contents(path, &text, NULL, &problem)) {
                if (g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_ACCES))
                        error_set(error, KT_ERROR_FAILED, "Only root may read '%s', as checks can print secrets",
                                  path);
                else if (!g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        error_set(error, KT_ERROR_FAILED, "%s", problem->message);
                return NULL;
        }
        return health_record_parse(text, error) ?: error_prefix_null(error, "%s: ", path);
}

char *health_describe(const ContainerUnit *container, GError **error) {
        g_autoptr(HealthRecord) record = read_record(container, error);

        return record ? g_strdup(health_status_print(record->state.status)) : NULL;
}

static char *format_time(const char *text) {
        g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, NULL);
        g_autoptr(GDateTime) local = time ? g_date_time_to_local(time) : NULL;

        return local ? g_date_time_format(local, "%F %T") : g_strdup(text);
}

static void add_result(Table *table, const HealthResult *result) {
        g_autoptr(GDateTime) start = g_date_time_new_from_iso8601(result->start, NULL);
        g_autoptr(GDateTime) end = g_date_time_new_from_iso8601(result->end, NULL);
        double msec = start && end ? (double) g_date_time_difference(end, start) / 1000 : 0;

        table_add(table, format_time(result->start), g_strdup_printf("%.1f", msec),
                  g_strdup_printf("%" G_GINT64_FORMAT, result->exit_code), g_strchomp(g_strdup(result->output)));
}

/* One container: what the file says, or its results. */
static int show_one(const ContainerUnit *container, const Options *options, GError **error) {
        static const char *const columns[] = { "CHECKED", "#MS", "#EXIT", "OUTPUT", NULL };
        g_autoptr(HealthRecord) record = read_record(container, error);
        g_autoptr(Table) table = table_new(columns);

        if (!record && !*error)
                error_set(error, KT_ERROR_NOT_FOUND, "%s has no health checks, or does not run; see keyturnctl list",
                          container->unit);
        if (!record)
                return -1;
        if (options->json) {
                g_autofree char *text = health_record_print(record), *shown = printable_json(text);

                fputs(shown, stdout);
        } else {
                printable_print("%s: %s, %u failed in a row\n", container->unit,
                                health_status_print(record->state.status), record->state.failing_streak);
                for (guint i = 0; i < record->log->len; i++)
                        add_result(table, record->log->pdata[i]);
                table_print(table, false);
        }
        return record->state.status == HEALTHY ? 0 : 1;
}

static void add_container(Table *table, const ContainerUnit *container, const HealthRecord *record) {
        const HealthResult *last = record->log->len > 0 ? record->log->pdata[record->log->len - 1] : NULL;

        table_add(table, g_strdup(container->args->name), g_strdup(container->unit),
                  g_strdup(health_status_print(record->state.status)),
                  g_strdup_printf("%u", record->state.failing_streak), last ? format_time(last->start) : NULL,
                  last ? g_strdup_printf("%" G_GINT64_FORMAT, last->exit_code) : NULL,
                  last ? g_strchomp(g_strdup(last->output)) : NULL);
}

/* 1 where something is not healthy: for scripts. */
int command_health(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "CONTAINER", "UNIT",  "HEALTH", "#FAILED",
                                               "CHECKED",   "#EXIT", "OUTPUT", NULL };
        const ContainerUnit *only = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(Table) table = table_new(columns);
        bool healthy = true;

        if (words[0])
                return only ? show_one(only, options, error) : -1;
        for (guint i = 0; i < all->len; i++) {
                g_autoptr(HealthRecord) record = read_record(all->pdata[i], error);

                if (*error)
                        return -1;
                if (!record)
                        continue;
                add_container(table, all->pdata[i], record);
                healthy &= record->state.status == HEALTHY;
        }
        table_print(table, options->json);
        return healthy ? 0 : 1;
}
