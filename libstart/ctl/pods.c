/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/generated-units.h"
#include "libstart/ctl/container/unit-properties.h"
#include "libstart/ctl/ports.h"
#include "libstart/table/table.h"

static const char *const columns[] = { "UNIT", "STATE", "@CONTAINERS", "@PORTS", "SINCE", "SOURCE", NULL };

/* Its containers' services are bound to it; their health timers and the like are none. Transfer full; NULL: none. */
static char *find_members(sd_bus *bus, const char *path, const GPtrArray *all) {
        g_auto(GStrv) bound = unit_strings(bus, path, BUS_UNIT, "BoundBy");
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];

                if (g_strv_contains((const char *const *) bound, container->unit))
                        g_ptr_array_add(names, container->args->name);
        }
        return table_join((char **) names->pdata, names->len);
}

static bool add_pod(Table *table, sd_bus *bus, const char *unit, const GPtrArray *all, GError **error) {
        g_autofree char *path = unit_load(bus, unit, error), *active = NULL;
        g_autofree char *stem = g_strndup(unit, strlen(unit) - strlen(".service"));

        if (!path)
                return false;
        active = unit_string(bus, path, BUS_UNIT, "ActiveState");
        table_add(table, g_strdup(unit), service_state_describe(bus, path, active), find_members(bus, path, all),
                  network_ports(stem),
                  table_format_since(unit_number(bus, path, BUS_UNIT, "StateChangeTimestamp", 't')),
                  unit_string(bus, path, BUS_UNIT, "SourcePath"));
        return true;
}

static bool add_pods(Table *table, sd_bus *bus, const GPtrArray *all, GError **error) {
        static const char *const commands[] = { "/libstart pod up ", NULL };
        g_autoptr(GPtrArray) units = generated_units_list(bus, commands, error);

        for (guint i = 0; units && i < units->len; i++)
                if (!add_pod(table, bus, units->pdata[i], all, error))
                        return false;
        return units;
}

int command_pods(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(Table) table = table_new(columns);
        g_autoptr(sd_bus) bus = bus_open(error);

        if (!bus || !add_pods(table, bus, all, error))
                return -1;
        table_print(table, options->json);
        return 0;
}
