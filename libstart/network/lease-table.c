/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/state-format.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/network/lease-table.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/podman-leases.h"

#define PODMAN_DATABASE "/run/containers/networks/ipam.db"
#define FALLBACK PATH_NETWORK "/.leases" /* no unit's name begins with a dot */

struct LeaseTable {
        char *unit;
        GHashTable *held;       /* "NETWORK ADDRESS" -> who */
        GHashTable *remembered; /* the same of those that are gone */
        GHashTable *own;        /* "NETWORK ADDRESS" -> "": what the unit had */
        GPtrArray *ports;       /* of HeldPort */
        GHashTable *asked;      /* networks that Podman was asked for */
        char *written;          /* the unit's file as it is; NULL: none */
};

typedef struct HeldPort {
        PortMapping port;
        char *unit;
} HeldPort;

static void held_port_free(void *data) {
        HeldPort *held = data;

        g_free(held->unit);
        g_free(held);
}

static char *make_key(const char *network, const IpAddress *address) {
        g_autofree char *text = ip_address_format(address);

        return g_strconcat(network, " ", text, NULL);
}

static void hold(LeaseTable *table, const char *unit, const SetupSummary *setup) {
        for (guint i = 0; i < setup->networks->len; i++) {
                const SummaryNetwork *network = setup->networks->pdata[i];

                for (guint j = 0; j < network->addresses->len; j++)
                        g_hash_table_replace(table->held,
                                             make_key(network->name,
                                                      &g_array_index(network->addresses, IpAddress, j)),
                                             g_strdup(unit));
        }
        for (guint i = 0; i < setup->ports->len; i++) {
                HeldPort *held = g_new0(HeldPort, 1);

                held->port = g_array_index(setup->ports, PortMapping, i);
                held->unit = g_strdup(unit);
                g_ptr_array_add(table->ports, held);
        }
}

static bool read_held(LeaseTable *table, GError **error) {
        g_auto(GStrv) units = namespace_state_list(error);

        for (char **unit = units; unit && *unit; unit++) {
                g_autoptr(SetupSummary) setup = NULL;

                if (g_str_equal(*unit, table->unit))
                        continue;
                if (!namespace_state_read_summary(*unit, &setup, error))
                        return false;
                if (setup)
                        hold(table, *unit, setup);
        }
        return units;
}

/* Lines of "NETWORK ADDRESS". What is no such line is nobody's. */
static void read_file(LeaseTable *table, const char *unit, const char *text) {
        bool is_own = g_str_equal(unit, table->unit);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                const char *blank = strchr(*line, ' ');
                g_autofree char *network = blank ? g_strndup(*line, (gsize) (blank - *line)) : NULL;
                IpAddress address;

                if (blank && ip_address_parse(blank + 1, &address))
                        g_hash_table_replace(is_own ? table->own : table->remembered, make_key(network, &address),
                                             g_strdup(unit));
        }
        if (is_own) {
                g_free(table->written);
                table->written = g_strdup(text);
        }
}

static bool read_directory(LeaseTable *table, const char *directory, GError **error) {
        g_auto(GStrv) units = directory_list(directory, error);

        for (char **unit = units; unit && *unit; unit++) {
                g_autofree char *path = g_build_filename(directory, *unit, NULL), *text = NULL;

                /* A file that is being written has another name for a while. */
                if (!namespace_name_check(*unit, NULL))
                        continue;
                if (!file_read(path, &text, NULL, error) || (text && !state_format_check(path, text, error)))
                        return false;
                if (text)
                        read_file(table, *unit, text);
        }
        return units;
}

LeaseTable *lease_table_read(const char *unit, GError **error) {
        g_autoptr(LeaseTable) table = g_new0(LeaseTable, 1);

        table->unit = g_strdup(unit);
        table->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        table->remembered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        table->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        table->ports = g_ptr_array_new_with_free_func(held_port_free);
        table->asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        if (!read_held(table, error) || !read_directory(table, PATH_LEASES, error) ||
            !read_directory(table, FALLBACK, error))
                return NULL;
        return g_steal_pointer(&table);
}

void lease_table_free(LeaseTable *table) {
        if (!table)
                return;
        g_free(table->unit);
        g_hash_table_unref(table->held);
        g_hash_table_unref(table->remembered);
        g_hash_table_unref(table->own);
        g_ptr_array_unref(table->ports);
        g_hash_table_unref(table->asked);
        g_free(table->written);
        g_free(table);
}

/* Nobody changes it meanwhile: Podman does so only with the lock. */
static void ask_podman(const char *network, void (*add)(const IpAddress *address, void *data), void *data) {
        g_autofree char *text = NULL;
        size_t length = 0;

        if (user_view_is_here()) /* her Podman's bridges are in a namespace of its own */
                return;
        if (!file_read(PODMAN_DATABASE, &text, &length, NULL) ||
            (text && !podman_leases_read((const guint8 *) text, length, network, add, data)))
                log_warning("'%s' cannot be read: what Podman's containers have in '%s' is not known",
                            PODMAN_DATABASE, network);
}

typedef struct Ask {
        LeaseTable *table;
        const char *network;
} Ask;

static void add_podmans(const IpAddress *address, void *data) {
        const Ask *ask = data;

        g_hash_table_replace(ask->table->held, make_key(ask->network, address), g_strdup("a container of Podman's"));
}

static void count_podmans(const IpAddress *address, void *data) {
        (*(guint *) data)++;
}

bool lease_table_has_podmans(const char *network) {
        guint count = 0;

        ask_podman(network, count_podmans, &count);
        return count > 0;
}

const char *lease_table_find_holder(LeaseTable *table, const char *network, const IpAddress *address) {
        g_autofree char *key = make_key(network, address);
        Ask ask = { table, network };

        if (g_hash_table_add(table->asked, g_strdup(network)))
                ask_podman(network, add_podmans, &ask);
        return g_hash_table_lookup(table->held, key);
}

const char *lease_table_find_port(const LeaseTable *table, const PortMapping *port) {
        for (guint i = 0; i < table->ports->len; i++) {
                const HeldPort *held = table->ports->pdata[i];
                const PortMapping *other = &held->port;
                bool same_ip = !*other->host_ip || !*port->host_ip || g_str_equal(other->host_ip, port->host_ip);

                if (same_ip && other->protocols & port->protocols &&
                    port->host_port < other->host_port + other->range &&
                    other->host_port < port->host_port + port->range)
                        return held->unit;
        }
        return NULL;
}

typedef struct Choice {
        LeaseTable *table;
        const char *network;
        const NetworkSubnet *subnet;
        bool is_scarce; /* addresses of those that are gone are given away */
} Choice;

static bool is_taken(const IpAddress *address, const void *data) {
        const Choice *choice = data;
        g_autofree char *key = make_key(choice->network, address);

        return (choice->subnet->has_gateway && ip_address_compare(address, &choice->subnet->gateway) == 0) ||
               lease_table_find_holder(choice->table, choice->network, address) ||
               (!choice->is_scarce && g_hash_table_contains(choice->table->remembered, key));
}

/* What it had, if that still is one of ours. */
static bool find_own(const Choice *choice, IpAddress *ret) {
        GHashTableIter iter;
        void *key;

        g_hash_table_iter_init(&iter, choice->table->own);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                const char *blank = strchr(key, ' ');

                if (strncmp(key, choice->network, (size_t) (blank - (const char *) key)) == 0 &&
                    choice->network[blank - (const char *) key] == '\0' && ip_address_parse(blank + 1, ret) &&
                    address_range_contains(&choice->subnet->ours, ret) && !is_taken(ret, choice))
                        return true;
        }
        return false;
}

static bool choose_one(LeaseTable *table, const char *network, const NetworkSubnet *subnet, IpAddress *ret,
                       GError **error) {
        g_autofree char *place = g_strconcat(network, " ", table->unit, NULL), *range = NULL;
        Choice choice = { table, network, subnet, false };

        if (find_own(&choice, ret) || address_range_choose(&subnet->ours, place, is_taken, &choice, ret))
                return true;
        choice.is_scarce = true;
        if (address_range_choose(&subnet->ours, place, is_taken, &choice, ret))
                return true;
        range = address_range_format(&subnet->ours);
        return error_set(error, KT_ERROR_TAKEN, "The network '%s' has no address left in %s", network, range);
}

/* Which one of the request's is in the subnet, or NULL. */
static const IpAddress *find_wanted(const NetworkRequest *request, const NetworkSubnet *subnet) {
        for (guint i = 0; i < request->addresses->len; i++)
                if (ip_prefix_contains(&subnet->prefix, &g_array_index(request->addresses, IpAddress, i)))
                        return &g_array_index(request->addresses, IpAddress, i);
        return NULL;
}

static bool check_wanted(LeaseTable *table, const char *network, const NetworkSubnet *subnet, const IpAddress *wanted,
                         GError **error) {
        g_autofree char *text = ip_address_format(wanted);
        const char *holder = lease_table_find_holder(table, network, wanted);
        AddressRange whole;

        if (holder)
                return error_set(error, KT_ERROR_TAKEN, "The address %s of the network '%s' is taken: %s has it",
                                 text, network, holder);
        if (!address_range_of_subnet(&subnet->prefix, &whole) || !address_range_contains(&whole, wanted) ||
            (subnet->has_gateway && ip_address_compare(wanted, &subnet->gateway) == 0))
                return error_set(error, KT_ERROR_USAGE,
                                 "The address %s of the network '%s' is no container's: it is the network's own",
                                 text, network);
        return true;
}

/* Each has to be of one of the subnets, and of each only one can be given. */
static bool check_request(const Attachment *attachment, GError **error) {
        const GArray *wanted = attachment->request->addresses, *subnets = attachment->definition->subnets;

        for (guint i = 0; i < wanted->len; i++) {
                const IpAddress *address = &g_array_index(wanted, IpAddress, i);
                g_autofree char *text = ip_address_format(address);
                bool found = false;

                for (guint j = 0; j < subnets->len && !found; j++)
                        found = find_wanted(attachment->request, &g_array_index(subnets, NetworkSubnet, j)) ==
                                address;
                if (!found)
                        return error_set(
                                error, KT_ERROR_USAGE,
                                "The address %s is in no subnet of the network '%s', or not the only one in it", text,
                                attachment->definition->name);
        }
        return true;
}

bool lease_table_choose(LeaseTable *table, Attachment *attachment, GError **error) {
        const GArray *subnets = attachment->definition->subnets;
        const char *network = attachment->definition->name;

        if (!check_request(attachment, error))
                return false;
        for (guint i = 0; network_definition_gives_addresses(attachment->definition) && i < subnets->len; i++) {
                const NetworkSubnet *subnet = &g_array_index(subnets, NetworkSubnet, i);
                const IpAddress *wanted = find_wanted(attachment->request, subnet);
                IpAddress address;

                if (wanted ? !check_wanted(table, network, subnet, wanted, error) :
                             !choose_one(table, network, subnet, &address, error))
                        return false;
                g_array_append_val(attachment->addresses, *(wanted ?: &address));
        }
        return true;
}

static char *format_leases(const GPtrArray *attachments) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < attachments->len; i++) {
                const Attachment *attachment = attachments->pdata[i];

                for (guint j = 0; j < attachment->addresses->len; j++) {
                        g_autofree char *key = make_key(attachment->definition->name,
                                                        &g_array_index(attachment->addresses, IpAddress, j));

                        g_string_append_printf(text, "%s\n", key);
                }
        }
        return g_string_free(text, FALSE);
}

/* As a whole, also if the power fails. */
static bool write_in(const char *directory, const char *unit, const char *text, GError **error) {
        g_autofree char *path = g_build_filename(directory, unit, NULL);

        if (!directory_make(directory, 0755, error))
                return false;
        return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                        0644, error);
}

bool lease_table_remember(const LeaseTable *table, const GPtrArray *attachments, GError **error) {
        g_autofree char *text = format_leases(attachments);
        g_autoptr(GError) problem = NULL;

        if (g_strcmp0(text, table->written ?: "") == 0 || write_in(PATH_LEASES, table->unit, text, &problem))
                return true;
        log_notice("The addresses of '%s' are remembered until the next boot only: %s", table->unit,
                   problem->message);
        return write_in(FALLBACK, table->unit, text, error);
}
