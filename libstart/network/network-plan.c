/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>

#include "libstart/base/error.h"
#include "libstart/network/definition.h"
#include "libstart/network/network-files.h"
#include "libstart/network/network-plan.h"
#include "libstart/network/subnet-pool.h"
#include "libstart/value/names.h"

#define ANY_DRIVER (DRIVER_BRIDGE | DRIVER_MACVLAN | DRIVER_IPVLAN)

void network_plan_clear(NetworkPlan *plan) {
        g_free(plan->interface);
        g_array_unref(plan->subnets);
        g_ptr_array_unref(plan->own);
}

static bool find_driver(const char *name, Driver *ret, GError **error) {
        static const char *const names[] = { "bridge", "macvlan", "ipvlan" }; /* in the order of the bits */

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_str_equal(name, names[i])) {
                        *ret = 1U << i;
                        return true;
                }
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "There is no driver '%s': use bridge, macvlan or ipvlan, or make the network with podman "
                         "network create",
                         name);
}

/*
 * Options of the drivers: a table with what each may be
 */

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

static bool check_option(const NetworkPlan *plan, const char *name, const char *value, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(driver_options); i++) {
                const char *values = driver_options[i].values;

                if (!(driver_options[i].drivers & plan->driver) || !g_str_equal(driver_options[i].name, name))
                        continue;
                if (g_str_equal(values, "interface"))
                        return name_check_interface(value, error);
                if (g_str_equal(values, "number") ?
                            g_ascii_string_to_unsigned(value, 10, 0, driver_options[i].max, NULL, NULL) :
                            is_one_of(value, values))
                        return true;
                return error_set(error, KT_ERROR_USAGE, "--option=%s=%s: the value can be: %s", name, value, values);
        }
        return error_set(error, KT_ERROR_UNSUPPORTED, "--option=%s: the driver has no such option", name);
}

/* As podman's, whose names of docker's it knows, too. "1" and "0" are what netavark does not understand. */
static bool read_option(NetworkPlan *plan, const char *option, GError **error) {
        const char *equals = strchr(option, '=');
        g_autofree char *name = g_strndup(option, equals ? (gsize) (equals - option) : 0);
        const char *value = equals ? equals + 1 : "", *clean = name;

        if (!equals)
                return error_set(error, KT_ERROR_USAGE, "--option=%s: the form is NAME=VALUE", option);
        if (g_str_equal(name, "parent") || g_str_equal(name, "com.docker.network.bridge.name")) {
                g_free(plan->interface);
                plan->interface = g_strdup(value);
                return name_check_interface(value, error);
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

static bool read_subnets(NetworkPlan *plan, const GArray *used, GError **error) {
        const CreateOptions *options = plan->options;
        guint n = options->subnets ? g_strv_length(options->subnets) : 0;
        guint n_gateways = options->gateways ? g_strv_length(options->gateways) : 0;
        guint n_ranges = options->ranges ? g_strv_length(options->ranges) : 0;

        if (n_gateways > n || n_ranges > n)
                return error_set(error, KT_ERROR_USAGE,
                                 "Each gateway and each range of addresses needs a subnet: there are %u subnets", n);
        for (guint i = 0; i < n; i++) {
                NetworkSubnet subnet = { 0 };

                if (!ip_prefix_parse_subnet(options->subnets[i], &subnet.prefix, error))
                        return error_prefix(error, "--subnet: ");
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

bool network_plan_has_family(const NetworkPlan *plan, int family) {
        for (guint i = 0; i < plan->subnets->len; i++)
                if (g_array_index(plan->subnets, NetworkSubnet, i).prefix.address.family == family)
                        return true;
        return false;
}

/* A bridge has a subnet of IPv4 and, where it is to have IPv6, one of that. */
static bool add_missing(NetworkPlan *plan, const NetworkConf *conf, const GArray *used, GError **error) {
        NetworkSubnet subnet = { 0 };

        if (plan->driver != DRIVER_BRIDGE || !g_str_equal(plan->ipam, "host-local"))
                return true;
        if (plan->subnets->len == 0 || (plan->options->ipv6 && !network_plan_has_family(plan, AF_INET))) {
                if (!subnet_choose_ipv4(conf->pools, used, &subnet.prefix))
                        return error_set(error, KT_ERROR_FAILED, "No subnet is free: name one with Subnet=");
                g_array_append_val(plan->subnets, subnet);
        }
        if (plan->options->ipv6 && !network_plan_has_family(plan, AF_INET6)) {
                if (!subnet_choose_ipv6(used, &subnet.prefix))
                        return error_set(error, KT_ERROR_FAILED, "No subnet of IPv6 is free: name one with Subnet=");
                g_array_append_val(plan->subnets, subnet);
        }
        return true;
}

/* Who gives addresses: podman's rules. */
static bool choose_ipam(NetworkPlan *plan, GError **error) {
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

static bool check_dns(const NetworkPlan *plan, GError **error) {
        IpAddress address;

        for (char *const *server = plan->options->dns; server && *server; server++)
                if (!ip_address_parse(*server, &address))
                        return error_set(error, KT_ERROR_USAGE, "--dns=%s is no address", *server);
        return !plan->options->dns || plan->dns ||
               error_set(error, KT_ERROR_USAGE, "The network has no names, so --dns has no use");
}

static bool choose_interface(NetworkPlan *plan, const GPtrArray *others, GError **error) {
        const char *wanted = plan->options->interface_name;

        if (wanted) {
                g_free(plan->interface);
                plan->interface = g_strdup(wanted);
        }
        if (!plan->interface && plan->driver == DRIVER_BRIDGE) {
                plan->interface = network_files_free_interface(others, error);
                return plan->interface;
        }
        return !plan->interface || name_check_interface(plan->interface, error);
}

bool network_plan_make(NetworkPlan *plan, const NetworkConf *conf, GError **error) {
        g_autoptr(GPtrArray) others = network_files_read_all(conf, error);
        g_autoptr(GArray) used = others ? network_files_used_subnets(others, error) : NULL;

        if (!used || !find_driver(plan->options->driver ?: "bridge", &plan->driver, error))
                return false;
        for (char *const *option = plan->options->options; option && *option; option++)
                if (!read_option(plan, *option, error))
                        return false;
        if (!choose_ipam(plan, error) || !read_subnets(plan, used, error) || !add_missing(plan, conf, used, error) ||
            !choose_interface(plan, others, error))
                return false;
        plan->dns = !plan->options->disable_dns && plan->driver == DRIVER_BRIDGE && !g_str_equal(plan->ipam, "none");
        return check_dns(plan, error);
}
