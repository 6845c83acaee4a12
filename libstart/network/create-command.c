/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/json/emit.h"
#include "libstart/network/create-command.h"
#include "libstart/network/lease-table.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/network-files.h"
#include "libstart/network/network-lock.h"
#include "libstart/network/subnet-pool.h"
#include "libstart/option/names.h"
#include "libstart/option/network-request.h"

typedef enum Driver {
        DRIVER_BRIDGE = 1 << 0,
        DRIVER_MACVLAN = 1 << 1,
        DRIVER_IPVLAN = 1 << 2,
} Driver;

#define ANY_DRIVER (DRIVER_BRIDGE | DRIVER_MACVLAN | DRIVER_IPVLAN)

/* What becomes of the options. */
typedef struct Plan {
        const CreateOptions *options;
        Driver driver;
        const char *ipam;
        char *interface; /* owned, or NULL */
        GArray *subnets; /* of NetworkSubnet */
        GPtrArray *own;  /* of char*: NAME, VALUE, NAME, VALUE: options of the driver */
        bool dns, unmanaged;
} Plan;

static void plan_clear(Plan *plan) {
        g_free(plan->interface);
        g_array_unref(plan->subnets);
        g_ptr_array_unref(plan->own);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Plan, plan_clear)

static bool find_driver(const char *name, Driver *ret, GError **error) {
        if (!name || g_str_equal(name, "bridge"))
                *ret = DRIVER_BRIDGE;
        else if (g_str_equal(name, "macvlan"))
                *ret = DRIVER_MACVLAN;
        else if (g_str_equal(name, "ipvlan"))
                *ret = DRIVER_IPVLAN;
        else
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "There is no driver '%s': use bridge, macvlan or ipvlan, or make the network with podman "
                        "network create",
                        name);
        return true;
}

/*
 * Options of the drivers: a table with what each may be
 */

static bool is_number(const char *value, guint64 max) {
        guint64 number;

        return g_ascii_string_to_unsigned(value, 10, 0, max, &number, NULL);
}

static bool is_one_of(const char *value, const char *words) {
        g_auto(GStrv) all = g_strsplit(words, " ", -1);

        return g_strv_contains((const char *const *) all, value);
}

/* Values: "number", or the words that there are. */
static const struct {
        const char *name;
        guint drivers;
        const char *values;
        guint64 max;
} driver_options[] = {
        { "mtu", ANY_DRIVER, "number", 65535 },
        { "metric", DRIVER_BRIDGE, "number", G_MAXUINT32 },
        { "vlan", DRIVER_BRIDGE, "number", 4094 },
        { "isolate", DRIVER_BRIDGE, "true false strict", 0 },
        { "mode", DRIVER_BRIDGE, "managed unmanaged", 0 },
        { "vrf", DRIVER_BRIDGE, "interface", 0 },
        { "mode", DRIVER_MACVLAN, "bridge private vepa passthru", 0 },
        { "mode", DRIVER_IPVLAN, "l2 l3 l3s", 0 },
        { "bclim", DRIVER_MACVLAN, "number", G_MAXINT32 },
        { "no_default_route", ANY_DRIVER, "true false", 0 },
};

static bool check_option(const Plan *plan, const char *name, const char *value, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(driver_options); i++) {
                const char *values = driver_options[i].values;

                if (!(driver_options[i].drivers & plan->driver) || !g_str_equal(driver_options[i].name, name))
                        continue;
                if (g_str_equal(values, "interface"))
                        return interface_name_check(value, error);
                if (g_str_equal(values, "number") ? is_number(value, driver_options[i].max) :
                                                    is_one_of(value, values))
                        return true;
                return error_set(error, KT_ERROR_USAGE, "--option=%s=%s: the value can be: %s", name, value, values);
        }
        return error_set(error, KT_ERROR_UNSUPPORTED, "--option=%s: the driver has no such option", name);
}

/* As podman's, whose names of docker's it knows, too. "1" and "0" are what netavark does not understand. */
static bool read_option(Plan *plan, const char *option, GError **error) {
        const char *equals = strchr(option, '=');
        g_autofree char *name = g_strndup(option, equals ? (gsize) (equals - option) : 0);
        const char *value = equals ? equals + 1 : "", *clean = name;

        if (!equals)
                return error_set(error, KT_ERROR_USAGE, "--option=%s: the form is NAME=VALUE", option);
        if (g_str_equal(name, "parent") || g_str_equal(name, "com.docker.network.bridge.name")) {
                g_free(plan->interface);
                plan->interface = g_strdup(value);
                return interface_name_check(value, error);
        }
        if (g_str_equal(name, "com.docker.network.driver.mtu"))
                clean = "mtu";
        if (g_str_equal(value, "1") && is_one_of(clean, "isolate no_default_route"))
                value = "true";
        if (g_str_equal(value, "0") && is_one_of(clean, "isolate no_default_route"))
                value = "false";
        plan->unmanaged |= g_str_equal(clean, "mode") && g_str_equal(value, "unmanaged");
        g_ptr_array_add(plan->own, g_strdup(clean));
        g_ptr_array_add(plan->own, g_strdup(value));
        return check_option(plan, clean, value, error);
}

/*
 * Subnets
 */

static bool read_gateway(NetworkSubnet *subnet, const char *text, GError **error) {
        if (!text || !*text)
                return true;
        subnet->has_gateway = ip_address_parse(text, &subnet->gateway) &&
                              ip_prefix_contains(&subnet->prefix, &subnet->gateway);
        return subnet->has_gateway ||
               error_set(error, KT_ERROR_USAGE, "The gateway '%s' is no address of its subnet", text);
}

static bool read_range(NetworkSubnet *subnet, const char *text, GError **error) {
        if (!text || !*text)
                return true;
        if (!address_range_parse(text, &subnet->range, error))
                return false;
        subnet->has_range = ip_prefix_contains(&subnet->prefix, &subnet->range.first) &&
                            ip_prefix_contains(&subnet->prefix, &subnet->range.last);
        return subnet->has_range || error_set(error, KT_ERROR_USAGE, "The range '%s' is not in its subnet", text);
}

static bool read_subnets(Plan *plan, const GArray *used, GError **error) {
        const CreateOptions *options = plan->options;
        guint n = options->subnets ? g_strv_length(options->subnets) : 0;
        guint n_gateways = options->gateways ? g_strv_length(options->gateways) : 0;
        guint n_ranges = options->ranges ? g_strv_length(options->ranges) : 0;

        if (n_gateways > n || n_ranges > n)
                return error_set(error, KT_ERROR_USAGE,
                                 "Each gateway and each range of addresses needs a subnet: there are %u subnets", n);
        for (guint i = 0; i < n; i++) {
                NetworkSubnet subnet = { 0 };

                if (!ip_prefix_parse_subnet(options->subnets[i], &subnet.prefix, error)) {
                        g_prefix_error(error, "--subnet: ");
                        return false;
                }
                if (!read_gateway(&subnet, i < n_gateways ? options->gateways[i] : NULL, error) ||
                    !read_range(&subnet, i < n_ranges ? options->ranges[i] : NULL, error))
                        return false;
                if (plan->driver == DRIVER_BRIDGE && !plan->unmanaged && !subnet_is_free(&subnet.prefix, used))
                        return error_set(error, KT_ERROR_FAILED,
                                         "The subnet %s is in use, by another network or by the machine",
                                         options->subnets[i]);
                g_array_append_val(plan->subnets, subnet);
        }
        return true;
}

static bool has_family(const Plan *plan, int family) {
        for (guint i = 0; i < plan->subnets->len; i++)
                if (g_array_index(plan->subnets, NetworkSubnet, i).prefix.address.family == family)
                        return true;
        return false;
}

/* A bridge has a subnet of IPv4 and, where it is to have IPv6, one of that. */
static bool add_missing(Plan *plan, const NetworkConf *conf, const GArray *used, GError **error) {
        NetworkSubnet subnet = { 0 };

        if (plan->driver != DRIVER_BRIDGE || !g_str_equal(plan->ipam, "host-local"))
                return true;
        if (plan->subnets->len == 0 || (plan->options->ipv6 && !has_family(plan, AF_INET))) {
                if (!subnet_choose_ipv4(conf->pools, used, &subnet.prefix))
                        return error_set(error, KT_ERROR_FAILED, "No subnet is free: name one with Subnet=");
                g_array_append_val(plan->subnets, subnet);
        }
        if (plan->options->ipv6 && !has_family(plan, AF_INET6)) {
                if (!subnet_choose_ipv6(used, &subnet.prefix))
                        return error_set(error, KT_ERROR_FAILED, "No subnet of IPv6 is free: name one with Subnet=");
                g_array_append_val(plan->subnets, subnet);
        }
        return true;
}

/* Who gives addresses: podman's rules. */
static bool choose_ipam(Plan *plan, GError **error) {
        const char *wanted = plan->options->ipam_driver;
        bool has_subnets = plan->options->subnets && *plan->options->subnets;

        if (wanted && !is_one_of(wanted, "host-local dhcp none"))
                return error_set(error, KT_ERROR_USAGE, "--ipam-driver=%s: there are host-local, dhcp and none",
                                 wanted);
        plan->ipam = plan->driver == DRIVER_BRIDGE || has_subnets ? "host-local" : "dhcp";
        if (wanted)
                plan->ipam = wanted;
        if (has_subnets && !g_str_equal(plan->ipam, "host-local"))
                return error_set(error, KT_ERROR_USAGE, "With --ipam-driver=%s there are no subnets to give",
                                 plan->ipam);
        if (!has_subnets && g_str_equal(plan->ipam, "host-local") && plan->driver != DRIVER_BRIDGE)
                return error_set(error, KT_ERROR_USAGE, "--ipam-driver=host-local needs a subnet with this driver");
        if (g_str_equal(plan->ipam, "dhcp") && plan->driver == DRIVER_IPVLAN)
                return error_set(error, KT_ERROR_USAGE, "ipvlan cannot ask a DHCP server: a subnet is needed");
        if (g_str_equal(plan->ipam, "dhcp") && plan->driver == DRIVER_BRIDGE && !plan->unmanaged)
                return error_set(error, KT_ERROR_USAGE,
                                 "A bridge asks a DHCP server only with the option mode=unmanaged");
        return true;
}

/*
 * The document
 */

static void emit_words(yajl_gen gen, const char *key, char *const *words) {
        json_emit_string(gen, key);
        yajl_gen_array_open(gen);
        for (; words && *words; words++)
                json_emit_string(gen, *words);
        yajl_gen_array_close(gen);
}

static void emit_address(yajl_gen gen, const char *key, const IpAddress *address) {
        g_autofree char *text = ip_address_format(address);

        json_emit_key_string(gen, key, text);
}

/* podman's --route: DESTINATION,GATEWAY[,METRIC]. */
static bool emit_route(yajl_gen gen, const char *text, GError **error) {
        g_auto(GStrv) parts = g_strsplit(text, ",", -1);
        guint n = g_strv_length(parts);
        guint64 metric = 0;
        IpAddress gateway;
        IpPrefix prefix;

        if (n < 2 || n > 3 || !ip_prefix_parse(parts[0], false, &prefix, NULL) ||
            !ip_address_parse(parts[1], &gateway) ||
            (n == 3 && !g_ascii_string_to_unsigned(parts[2], 10, 0, G_MAXUINT32, &metric, NULL)))
                return error_set(error, KT_ERROR_USAGE, "--route=%s: the form is SUBNET,GATEWAY[,METRIC]", text);
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "destination", parts[0]);
        emit_address(gen, "gateway", &gateway);
        if (n == 3)
                json_emit_key_number(gen, "metric", metric);
        yajl_gen_map_close(gen);
        return true;
}

static bool emit_routes(const Plan *plan, yajl_gen gen, GError **error) {
        bool ok = true;

        json_emit_string(gen, "routes");
        yajl_gen_array_open(gen);
        for (char *const *route = plan->options->routes; ok && route && *route; route++)
                ok = emit_route(gen, *route, error);
        yajl_gen_array_close(gen);
        return ok;
}

/* NAME[=VALUE], the last of a name. */
static void emit_labels(const Plan *plan, yajl_gen gen) {
        g_autoptr(GHashTable) labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GList) names = NULL;

        for (char *const *label = plan->options->labels; label && *label; label++) {
                const char *equals = strchr(*label, '=');

                g_hash_table_replace(labels, equals ? g_strndup(*label, (gsize) (equals - *label)) : g_strdup(*label),
                                     (void *) (equals ? equals + 1 : ""));
        }
        names = g_list_sort(g_hash_table_get_keys(labels), (GCompareFunc) strcmp);
        json_emit_string(gen, "labels");
        yajl_gen_map_open(gen);
        for (GList *name = names; name; name = name->next)
                json_emit_key_string(gen, name->data, g_hash_table_lookup(labels, name->data));
        yajl_gen_map_close(gen);
}

/* The same name gives the same one: netavark names its rules by it. */
static void emit_identity(const Plan *plan, yajl_gen gen) {
        g_autofree char *seed = g_strconcat("keyturn network ", plan->options->name, NULL);
        g_autofree char *id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, seed, -1);
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        g_autofree char *created = g_date_time_format_iso8601(now);

        json_emit_key_string(gen, "name", plan->options->name);
        json_emit_key_string(gen, "id", id);
        json_emit_key_string(gen, "driver", plan->options->driver ?: "bridge");
        if (plan->interface)
                json_emit_key_string(gen, "network_interface", plan->interface);
        json_emit_key_string(gen, "created", created);
}

static bool emit_network(const Plan *plan, yajl_gen gen, GError **error) {
        bool ok;

        yajl_gen_map_open(gen);
        emit_identity(plan, gen);
        network_subnets_emit(gen, plan->subnets);
        ok = !plan->options->routes || emit_routes(plan, gen, error);
        json_emit_key_bool(gen, "ipv6_enabled", plan->options->ipv6 || has_family(plan, AF_INET6));
        json_emit_key_bool(gen, "internal", plan->options->internal);
        json_emit_key_bool(gen, "dns_enabled", plan->dns);
        if (plan->options->dns)
                emit_words(gen, "network_dns_servers", plan->options->dns);
        emit_labels(plan, gen);
        json_emit_string(gen, "options");
        yajl_gen_map_open(gen);
        for (guint i = 0; i < plan->own->len; i += 2)
                json_emit_key_string(gen, plan->own->pdata[i], plan->own->pdata[i + 1]);
        yajl_gen_map_close(gen);
        json_emit_string(gen, "ipam_options");
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "driver", plan->ipam);
        yajl_gen_map_close(gen);
        yajl_gen_map_close(gen);
        return ok;
}

/*
 * The commands
 */

static bool check_dns(const Plan *plan, GError **error) {
        IpAddress address;

        for (char *const *server = plan->options->dns; server && *server; server++)
                if (!ip_address_parse(*server, &address))
                        return error_set(error, KT_ERROR_USAGE, "--dns=%s is no address", *server);
        return !plan->options->dns || plan->dns ||
               error_set(error, KT_ERROR_USAGE, "The network has no names, so --dns has no use");
}

static bool choose_interface(Plan *plan, const NetworkConf *conf, GError **error) {
        const char *wanted = plan->options->interface_name;

        if (wanted) {
                g_free(plan->interface);
                plan->interface = g_strdup(wanted);
        }
        if (!plan->interface && plan->driver == DRIVER_BRIDGE)
                plan->interface = network_files_free_interface(conf);
        return !plan->interface || interface_name_check(plan->interface, error);
}

static bool make_plan(Plan *plan, const NetworkConf *conf, GError **error) {
        g_autoptr(GArray) used = network_files_used_subnets(conf);

        if (!find_driver(plan->options->driver, &plan->driver, error))
                return false;
        for (char *const *option = plan->options->options; option && *option; option++)
                if (!read_option(plan, *option, error))
                        return false;
        if (!choose_ipam(plan, error) || !read_subnets(plan, used, error) || !add_missing(plan, conf, used, error) ||
            !choose_interface(plan, conf, error))
                return false;
        plan->dns = !plan->options->disable_dns && plan->driver == DRIVER_BRIDGE && !g_str_equal(plan->ipam, "none");
        return check_dns(plan, error);
}

static bool create(const NetworkConf *conf, const CreateOptions *options, GError **error) {
        g_auto(Plan) plan = {
                .options = options,
                .subnets = g_array_new(FALSE, FALSE, sizeof(NetworkSubnet)),
                .own = g_ptr_array_new_with_free_func(g_free),
        };
        g_autoptr(NetworkDefinition) definition = NULL;
        g_autofree char *text = NULL;
        yajl_gen gen;
        bool ok;

        if (!make_plan(&plan, conf, error))
                return false;
        gen = json_emit_new(false);
        ok = emit_network(&plan, gen, error);
        text = json_emit_finish(gen);
        definition = ok ? network_definition_parse(text, strlen(text), options->name, error) : NULL;
        if (!definition)
                return false;
        (void) network_definition_share(definition);
        return network_files_write(conf, definition, error);
}

bool create_command(const CreateOptions *options, GError **error) {
        g_auto(NetworkConf) conf = { 0 };
        _cleanup_close_ int lock = -1;

        if (!options->name)
                return error_set(error, KT_ERROR_USAGE, "create needs --name=NETWORK");
        if (!name_check_network(options->name, error) || !network_conf_read("", &conf, error))
                return false;
        lock = network_lock(error);
        if (lock < 0)
                return false;
        return network_files_has(&conf, options->name) || g_str_equal(options->name, conf.default_network) ||
               create(&conf, options, error);
}

/* A namespace that is in it, or NULL. Transfer full. */
static char *find_user(const char *network) {
        g_autoptr(GPtrArray) units = namespace_state_list();

        for (guint i = 0; i < units->len; i++) {
                g_autoptr(SetupSummary) setup = namespace_state_read_summary(units->pdata[i]);

                for (guint j = 0; setup && j < setup->networks->len; j++)
                        if (g_str_equal(((const SummaryNetwork *) setup->networks->pdata[j])->name, network))
                                return g_strdup(units->pdata[i]);
        }
        return NULL;
}

bool delete_command(const char *name, GError **error) {
        g_auto(NetworkConf) conf = { 0 };
        g_autofree char *user = NULL;
        _cleanup_close_ int lock = -1;

        if (!name)
                return error_set(error, KT_ERROR_USAGE, "delete needs --name=NETWORK");
        if (!name_check_network(name, error) || !network_conf_read("", &conf, error))
                return false;
        lock = network_lock(error);
        if (lock < 0)
                return false;
        if (g_str_equal(name, conf.default_network))
                return error_set(error, KT_ERROR_FAILED, "'%s' is the default network, which always is there", name);
        user = find_user(name);
        if (user)
                return error_set(error, KT_ERROR_FAILED, "The network '%s' is in use: by keyturn-network@%s.service",
                                 name, user);
        if (lease_table_has_podmans(name))
                return error_set(error, KT_ERROR_FAILED, "The network '%s' is in use: by a container of Podman's",
                                 name);
        return network_files_remove(&conf, name, error);
}
