/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/commands.h"
#include "libstart/ctl/health.h"
#include "libstart/ctl/table.h"

static char *format_since(guint64 since) {
        g_autoptr(GDateTime) time = since ? g_date_time_new_from_unix_local((gint64) (since / G_USEC_PER_SEC)) : NULL;

        return time ? g_date_time_format(time, "%F %T") : NULL;
}

int command_list(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "CONTAINER", "UNIT",  "STATE",     "HEALTH",
                                               "IMAGE",     "SINCE", "#START-MS", NULL };
        g_autoptr(Table) table = table_new(columns);

        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *c = all->pdata[i];
                char *start = c->start ? g_strdup_printf("%.1f", (double) c->start / 1000) : NULL;

                table_add(table, g_strdup(c->args->name), g_strdup(c->unit), g_strdup(c->state), health_describe(c),
                          g_strdup(c->args->image), format_since(c->since), start);
        }
        table_print(table, options->json);
        return 0;
}
