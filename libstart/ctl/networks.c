/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/commands.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/network-files.h"
#include "libstart/table/table.h"

static char *format_subnets(const NetworkDefinition *definition) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; definition && i < definition->subnets->len; i++)
                g_ptr_array_add(words,
                                ip_prefix_format(&g_array_index(definition->subnets, NetworkSubnet, i).prefix));
        return table_join((char **) words->pdata, words->len);
}

static char *format_addresses(const GArray *addresses) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < addresses->len; i++)
                g_ptr_array_add(words, ip_address_format(&g_array_index(addresses, IpAddress, i)));
        return table_join((char **) words->pdata, words->len);
}

static char *format_ports(const GArray *ports) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < ports->len; i++)
                g_ptr_array_add(words, port_mapping_format(&g_array_index(ports, PortMapping, i)));
        return table_join((char **) words->pdata, words->len);
}

/* Where the network's namespaces are. */
static const SummaryNetwork *find_network(const SetupSummary *setup, const char *name) {
        for (guint i = 0; i < setup->networks->len; i++) {
                const SummaryNetwork *network = setup->networks->pdata[i];

                if (g_str_equal(network->name, name))
                        return network;
        }
        return NULL;
}

/* A row for each container in it; one without a container, where there is none. */
static void add_network(Table *table, const char *name, const NetworkDefinition *definition,
                        const GPtrArray *setups) {
        bool is_used = false;

        for (guint i = 0; i < setups->len; i++) {
                const SetupSummary *setup = setups->pdata[i];
                const SummaryNetwork *network = find_network(setup, name);

                if (!network)
                        continue;
                table_add(table, g_strdup(name), definition ? g_strdup(definition->driver) : NULL,
                          format_subnets(definition), g_strdup(setup->container_name),
                          g_strconcat(setup->unit, ".service", NULL), format_addresses(network->addresses),
                          format_ports(setup->ports));
                is_used = true;
        }
        if (!is_used)
                table_add(table, g_strdup(name), definition ? g_strdup(definition->driver) : NULL,
                          format_subnets(definition), NULL, NULL, NULL, NULL);
}

static int compare_setups(const void *a, const void *b) {
        return g_strcmp0((*(SetupSummary *const *) a)->unit, (*(SetupSummary *const *) b)->unit);
}

/* Of all namespaces that are there. Array of SetupSummary. */
static GPtrArray *read_setups(void) {
        GPtrArray *setups = g_ptr_array_new_with_free_func((GDestroyNotify) setup_summary_free);
        g_auto(GStrv) units = namespace_state_list(NULL);

        for (char **unit = units; unit && *unit; unit++) {
                SetupSummary *setup;

                if (namespace_state_read_summary(*unit, &setup, NULL) && setup)
                        g_ptr_array_add(setups, setup);
        }
        g_ptr_array_sort(setups, compare_setups);
        return setups;
}

/* A network that has been removed has containers nevertheless, until these stop. */
static void add_missing(GPtrArray *names, const GPtrArray *setups) {
        for (guint i = 0; i < setups->len; i++) {
                const SetupSummary *setup = setups->pdata[i];

                for (guint j = 0; j < setup->networks->len; j++) {
                        const SummaryNetwork *network = setup->networks->pdata[j];

                        if (!g_ptr_array_find_with_equal_func(names, network->name, g_str_equal, NULL))
                                g_ptr_array_add(names, g_strdup(network->name));
                }
        }
}

int command_networks(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "NETWORK", "DRIVER",     "@SUBNETS", "CONTAINER",
                                               "UNIT",    "@ADDRESSES", "@PORTS",   NULL };
        g_autoptr(Table) table = table_new(columns);
        g_autoptr(GPtrArray) setups = read_setups(), names = NULL;
        g_auto(NetworkConf) conf = { 0 };

        if (!network_conf_read("", &conf, error) || !(names = network_files_list(&conf, error)))
                return -1;
        add_missing(names, setups);
        for (guint i = 0; i < names->len; i++) {
                g_autoptr(NetworkDefinition) definition = network_files_find(&conf, names->pdata[i], NULL);

                add_network(table, names->pdata[i], definition, setups);
        }
        table_print(table, options->json);
        return 0;
}
