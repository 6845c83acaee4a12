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
        GHashTable *remembered; /* of "NETWORK ADDRESS": what those had that are gone */
        GHashTable *own;        /* of the same: what the unit had */
        GPtrArray *setups;      /* of SetupSummary: the others' */
        char *written;          /* the unit's file as it is; NULL: none */
};

static char *make_key(const char *network, const IpAddress *address) {
        g_autofree char *text = ip_address_format(address);

        return g_strconcat(network, " ", text, NULL);
}

static void hold(LeaseTable *table, const SetupSummary *setup) {
        for (guint i = 0; i < setup->networks->len; i++) {
                const SummaryNetwork *network = setup->networks->pdata[i];

                for (guint j = 0; j < network->addresses->len; j++)
                        g_hash_table_replace(table->held,
                                             make_key(network->name,
                                                      &g_array_index(network->addresses, IpAddress, j)),
                                             g_strdup(setup->unit));
        }
}

static bool read_held(LeaseTable *table, GError **error) {
        g_auto(GStrv) units = namespace_state_list(error);

        for (char **unit = units; unit && *unit; unit++) {
                SetupSummary *setup;

                if (g_str_equal(*unit, table->unit))
                        continue;
                if (!namespace_state_read_summary(*unit, &setup, error))
                        return false;
                if (!setup)
                        continue;
                hold(table, setup);
                g_ptr_array_add(table->setups, setup);
        }
        return units;
}

/* Lines of "NETWORK ADDRESS". What is no such line is nobody's. */
static void read_file(LeaseTable *table, const char *unit, const char *text) {
        bool is_own = g_str_equal(unit, table->unit);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++)
                g_hash_table_add(is_own ? table->own : table->remembered, g_strdup(*line));
        if (is_own) {
                g_free(table->written);
                table->written = g_strdup(text);
        }
}

/* What others had is a wish: one file that a worn disk does not give back keeps nobody else from a network. */
static bool read_lease(LeaseTable *table, const char *unit, const char *path, GError **error) {
        g_autofree char *text = NULL;
        g_autoptr(GError) problem = NULL;

        if (!file_read(path, &text, NULL, &problem)) {
                if (g_str_equal(unit, table->unit)) {
                        g_propagate_prefixed_error(error, g_steal_pointer(&problem),
                                                   "If the file of its addresses is lost, remove it: ");
                        return false;
                }
                log_warning("The addresses that '%s' had may be given to others: %s", unit, problem->message);
        }
        if (text && !state_format_check(path, text, error))
                return false;
        if (text)
                read_file(table, unit, text);
        return true;
}

static bool read_directory(LeaseTable *table, const char *directory, GError **error) {
        g_auto(GStrv) units = directory_list(directory, error);

        for (char **unit = units; unit && *unit; unit++) {
                g_autofree char *path = g_build_filename(directory, *unit, NULL);

                /* What a kill has left unfinished has no unit's name. */
                if (namespace_name_check(*unit, NULL) && !read_lease(table, *unit, path, error))
                        return false;
        }
        return units;
}

LeaseTable *lease_table_read(const char *unit, GError **error) {
        g_autoptr(LeaseTable) table = g_new0(LeaseTable, 1);

        table->unit = g_strdup(unit);
        table->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        table->remembered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        table->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        table->setups = g_ptr_array_new_with_free_func((GDestroyNotify) setup_summary_free);
        if (!read_held(table, error) || !read_directory(table, PATH_LEASES, error) ||
            !read_directory(table, FALLBACK, error))
                return NULL;
        return g_steal_pointer(&table);
}

void lease_table_free(LeaseTable *table) {
        g_free(table->unit);
        g_hash_table_unref(table->held);
        g_hash_table_unref(table->remembered);
        g_hash_table_unref(table->own);
        g_ptr_array_unref(table->setups);
        g_free(table->written);
        g_free(table);
}

/* Nobody changes it meanwhile: Podman does so only with the lock. Array of IpAddress. */
static GArray *ask_podman(const char *network) {
        GArray *addresses = g_array_new(FALSE, FALSE, sizeof(IpAddress));
        g_autofree char *text = NULL;
        size_t length = 0;

        if (user_view_is_here()) /* her Podman's bridges are in a namespace of its own */
                return addresses;
        if (!file_read(PODMAN_DATABASE, &text, &length, NULL) ||
            (text && !podman_leases_read((const guint8 *) text, length, network, addresses)))
                log_warning("'%s' cannot be read: what Podman's containers have in '%s' is not known",
                            PODMAN_DATABASE, network);
        return addresses;
}

static void hold_podmans(LeaseTable *table, const char *network) {
        g_autoptr(GArray) addresses = ask_podman(network);

        for (guint i = 0; i < addresses->len; i++)
                g_hash_table_replace(table->held, make_key(network, &g_array_index(addresses, IpAddress, i)),
                                     g_strdup("a container of Podman's"));
}

bool lease_table_has_podmans(const char *network) {
        g_autoptr(GArray) addresses = ask_podman(network);

        return addresses->len > 0;
}

static bool overlap(const PortMapping *a, const PortMapping *b) {
        return (!*a->host_ip || !*b->host_ip || g_str_equal(a->host_ip, b->host_ip)) && a->protocols & b->protocols &&
               a->host_port < b->host_port + b->range && b->host_port < a->host_port + a->range;
}

const char *lease_table_find_port(const LeaseTable *table, const PortMapping *port) {
        for (guint i = 0; i < table->setups->len; i++) {
                const SetupSummary *setup = table->setups->pdata[i];

                for (guint j = 0; j < setup->ports->len; j++)
                        if (overlap(&g_array_index(setup->ports, PortMapping, j), port))
                                return setup->unit;
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
               g_hash_table_contains(choice->table->held, key) ||
               (!choice->is_scarce && g_hash_table_contains(choice->table->remembered, key));
}

/* What it had, if that still is one of ours. */
static bool find_own(const Choice *choice, IpAddress *ret) {
        g_autofree char *network = g_strconcat(choice->network, " ", NULL);
        GHashTableIter iter;
        void *key;

        g_hash_table_iter_init(&iter, choice->table->own);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                if (g_str_has_prefix(key, network) && ip_address_parse((char *) key + strlen(network), ret) &&
                    address_range_contains(&choice->subnet->ours, ret) && !is_taken(ret, choice))
                        return true;
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

static bool check_wanted(const LeaseTable *table, const char *network, const NetworkSubnet *subnet,
                         const IpAddress *wanted, GError **error) {
        g_autofree char *text = ip_address_format(wanted), *key = make_key(network, wanted);
        const char *holder = g_hash_table_lookup(table->held, key);
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
        if (!network_definition_gives_addresses(attachment->definition))
                return true;
        hold_podmans(table, network);
        for (guint i = 0; i < subnets->len; i++) {
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

static bool write_in(const char *directory, const char *unit, const char *text, GError **error) {
        return directory_make_kept(directory, 0755, error) &&
               directory_write_file(directory, unit, text, 0644, error);
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
