/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/printable.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/health.h"
#include "libstart/ctl/container/running-facts.h"
#include "libstart/table/table.h"

#define SHORT_ID 12

static char *format_since(guint64 since) {
        g_autoptr(GDateTime) time = since ? g_date_time_new_from_unix_local((gint64) (since / G_USEC_PER_SEC)) : NULL;

        return time ? g_date_time_format(time, "%F %T") : NULL;
}

static void add_container(Table *table, const ContainerUnit *c) {
        g_auto(RunningFacts) facts = { 0 };
        char *start = c->start ? g_strdup_printf("%.1f", (double) c->start / 1000) : NULL;

        running_facts_find(c, &facts);
        table_add(table, g_strdup(c->args->name), g_strdup(c->unit), g_strdup(c->state), health_describe(c),
                  g_strdup(c->args->image), facts.image_id ? g_strndup(facts.image_id, SHORT_ID) : NULL,
                  g_strdup(facts.created), g_strdup(facts.addresses), g_strdup(facts.memory), g_strdup(facts.cpu_ms),
                  g_strdup_printf("%u", c->restarts), format_since(c->since), start);
}

static void print_names(const GPtrArray *all) {
        for (guint i = 0; i < all->len; i++)
                printable_print("%s\n", ((const ContainerUnit *) all->pdata[i])->args->name);
}

int command_list(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "CONTAINER", "UNIT",     "STATE",     "HEALTH",  "IMAGE",
                                               "IMAGE-ID",  "~CREATED", "@ADDRESS",  "%MEMORY", "#CPU-MS",
                                               "#RESTARTS", "SINCE",    "#START-MS", NULL };
        g_autoptr(Table) table = table_new(columns);

        if (options->quiet) {
                print_names(all);
                return 0;
        }
        for (guint i = 0; i < all->len; i++)
                add_container(table, all->pdata[i]);
        table_print(table, options->json);
        return 0;
}
