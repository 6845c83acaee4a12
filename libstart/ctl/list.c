/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/printable.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/health.h"
#include "libstart/ctl/container/running-facts.h"
#include "libstart/ctl/ports.h"
#include "libstart/table/table.h"

#define SHORT_ID 12

static void add_container(Table *table, const ContainerUnit *c) {
        g_auto(RunningFacts) facts = { 0 };
        char *start = c->start ? g_strdup_printf("%.1f", (double) c->start / 1000) : NULL;

        running_facts_find(c, &facts);
        table_add(table, g_strdup(c->args->name), g_strdup(c->unit), g_strdup(c->state), health_describe(c, NULL),
                  g_strdup(c->args->image), facts.image_id ? g_strndup(facts.image_id, SHORT_ID) : NULL,
                  g_strdup(facts.created), g_strdup(facts.addresses), container_ports(c), g_strdup(facts.memory),
                  g_strdup(facts.cpu_ms), g_strdup_printf("%u", c->restarts), table_format_since(c->since), start);
}

/* Those that are named, or all. Of borrowed ones; transfer container. */
static GPtrArray *choose(const GPtrArray *all, char **names, GError **error) {
        g_autoptr(GPtrArray) chosen = g_ptr_array_new();

        for (guint i = 0; !names[0] && i < all->len; i++)
                g_ptr_array_add(chosen, all->pdata[i]);
        for (char **name = names; *name; name++) {
                const ContainerUnit *container = container_units_get(all, *name, error);

                if (!container)
                        return NULL;
                g_ptr_array_add(chosen, (void *) container);
        }
        return g_steal_pointer(&chosen);
}

int command_list(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "CONTAINER", "UNIT",      "STATE",    "HEALTH",    "IMAGE",
                                               "IMAGE-ID",  "~CREATED",  "@ADDRESS", "@PORTS",    "%MEMORY",
                                               "#CPU-MS",   "#RESTARTS", "SINCE",    "#START-MS", NULL };
        g_autoptr(GPtrArray) chosen = choose(all, words, error);
        g_autoptr(Table) table = table_new(columns);

        if (!chosen)
                return -1;
        for (guint i = 0; i < chosen->len; i++) {
                const ContainerUnit *container = chosen->pdata[i];

                if (options->quiet)
                        printable_print("%s\n", container->args->name);
                else
                        add_container(table, container);
        }
        if (!options->quiet)
                table_print(table, options->json);
        return 0;
}
