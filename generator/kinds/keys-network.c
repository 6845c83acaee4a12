/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/install.h"
#include "generator/kinds/keys-container.h"
#include "generator/kinds/podman-args.h"
#include "generator/kinds/resource.h"
#include "generator/network/network-references.h"
#include "generator/parts/conf-module.h"
#include "generator/parts/users-container.h"
#include "generator/unit/keys.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/value/ip-address.h"
#include "libstart/value/names.h"
#include "libstart/value/unit-words.h"

#define PROGRAM KEYTURN_LIBDIR "/keyturn-network"

static bool handle_driver(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char *const drivers[] = { "bridge", "macvlan", "ipvlan", NULL };

        return unit_word_is_unexpanded(value->text) || g_strv_contains(drivers, value->text) ||
               error_set(error, KT_ERROR_UNSUPPORTED, "'%s': networks are made by netavark's own drivers: %s",
                         value->text, "bridge, macvlan or ipvlan");
}

static bool handle_ipam_driver(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char *const drivers[] = { "host-local", "dhcp", "none", NULL };

        return unit_word_is_unexpanded(value->text) || g_strv_contains(drivers, value->text) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is not host-local, dhcp or none", value->text);
}

static bool check_address(const char *text, GError **error) {
        IpAddress address;

        return ip_address_parse(text, &address) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no address of IPv4 or IPv6", text);
}

static bool handle_address(Conversion *container, const Key *key, const Value *value, GError **error) {
        return unit_word_is_unexpanded(value->text) || check_address(value->text, error);
}

/* Several with commas between, as Podman has them. */
static bool handle_dns(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_auto(GStrv) servers = g_strsplit(value->text, ",", -1);

        for (char **server = servers; *server && !unit_word_is_unexpanded(value->text); server++)
                if (!check_address(*server, error))
                        return false;
        return true;
}

static bool handle_subnet(Conversion *container, const Key *key, const Value *value, GError **error) {
        IpPrefix prefix;

        return unit_word_is_unexpanded(value->text) || ip_prefix_parse_subnet(value->text, &prefix, error);
}

/* A prefix, or the first and the last. */
static bool handle_range(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_auto(GStrv) ends = g_strsplit(value->text, "-", 2);
        IpPrefix prefix;

        if (unit_word_is_unexpanded(value->text))
                return true;
        if (!ends[0] || !ends[1])
                return ip_prefix_parse(value->text, true, &prefix, error);
        return check_address(ends[0], error) && check_address(ends[1], error);
}

static bool handle_interface(Conversion *container, const Key *key, const Value *value, GError **error) {
        return unit_word_is_unexpanded(value->text) || name_check_interface(value->text, error);
}

static bool handle_name(Conversion *container, const Key *key, const Value *value, GError **error) {
        return unit_word_is_unexpanded(value->text) || name_check_network(value->text, error);
}

static bool handle_option_pair(Conversion *container, const Key *key, const Value *value, GError **error) {
        return strchr(value->text, '=') ||
               error_set(error, KT_ERROR_USAGE, "'%s': the form is NAME=VALUE, mtu=1400 for example", value->text);
}

/* As it is written out; NULL: it is none. */
static const char *find_short_option(const char *word) {
        return g_str_equal(word, "-d") ? "--driver" : g_str_equal(word, "-o") ? "--opt" : NULL;
}

/* Options of `podman network create`, as --NAME=VALUE or two words: keyturn-network has these. */
static bool handle_create_option(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char *const options[] = { "disable-dns", "dns",   "driver",      "gateway",  "interface-name",
                                               "internal",    "ipv6",  "ipam-driver", "ip-range", "label",
                                               "opt",         "route", "subnet",      NULL };
        g_autofree char *name = g_strndup(value->text, strcspn(value->text, "="));

        return value->text[0] != '-' || find_short_option(value->text) || g_str_equal(name, "--ignore") ||
               (g_str_has_prefix(name, "--") && g_strv_contains(options, name + 2)) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' is no option that a network can have here; write what it says as keys of [Network]",
                         name);
}

static const Key network_keys[] = {
        { "ContainersConfModule", READ_LINES, handle_conf_module, NULL },
        { "DNS", READ_LINES, handle_dns, NULL },
        { "DisableDNS", READ_BOOLEAN, handle_nothing, NULL },
        { "Driver", READ_LAST, handle_driver, NULL },
        { "Gateway", READ_LINES, handle_address, NULL },
        { "GlobalArgs", READ_ARGS, handle_global_args, NULL },
        { "IPAMDriver", READ_LAST, handle_ipam_driver, NULL },
        { "IPRange", READ_LINES, handle_range, NULL },
        { "IPv6", READ_BOOLEAN, handle_nothing, NULL },
        { "InterfaceName", READ_LAST, handle_interface, NULL },
        { "Internal", READ_BOOLEAN, handle_nothing, NULL },
        { "Label", READ_PAIRS, handle_option, "label" },
        { "NetworkDeleteOnStop", READ_BOOLEAN, handle_nothing, NULL },
        { "NetworkName", READ_LAST, handle_name, NULL },
        { "Options", READ_PAIRS, handle_option_pair, NULL },
        { "PodmanArgs", READ_ARGS, handle_create_option, NULL },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "Subnet", READ_LINES, handle_subnet, NULL },
};

static const KeyTable keys_network = { "Network", network_keys, G_N_ELEMENTS(network_keys) };

static void add_flag(Conversion *container, GString *command, const char *option, const char *key) {
        g_autoptr(GPtrArray) values = keys_find_values(container, &keys_network, key);

        if (values->len > 0 && g_str_equal(values->pdata[0], "true"))
                unit_words_add(command, option);
}

static void add_key(Conversion *container, GString *command, const char *option, const char *key) {
        g_autoptr(GPtrArray) values = keys_find_values(container, &keys_network, key);

        unit_words_add_options(command, option, values);
}

static void add_dns(Conversion *container, GString *command) {
        g_autoptr(GPtrArray) values = keys_find_values(container, &keys_network, "DNS");

        for (guint i = 0; i < values->len; i++) {
                g_auto(GStrv) servers = g_strsplit(values->pdata[i], ",", -1);

                for (char **server = servers; *server; server++)
                        unit_words_add_option(command, "--dns", *server);
        }
}

static GPtrArray *find_of_subnets(Conversion *container, const char *key, guint n_subnets) {
        GPtrArray *values = keys_find_values(container, &keys_network, key);

        if (values->len > n_subnets)
                conversion_problem(container, conversion_line(container, "Network", key),
                                   "needs a Subnet= for each, in the same order");
        return values;
}

/* The first gateway and the first range are of the first subnet, and so on. */
static void add_subnets(Conversion *container, GString *command) {
        g_autoptr(GPtrArray) subnets = keys_find_values(container, &keys_network, "Subnet");
        g_autoptr(GPtrArray) gateways = find_of_subnets(container, "Gateway", subnets->len);
        g_autoptr(GPtrArray) ranges = find_of_subnets(container, "IPRange", subnets->len);

        for (guint i = 0; i < subnets->len; i++) {
                unit_words_add_option(command, "--subnet", subnets->pdata[i]);
                if (i < gateways->len)
                        unit_words_add_option(command, "--gateway", gateways->pdata[i]);
                if (i < ranges->len)
                        unit_words_add_option(command, "--ip-range", ranges->pdata[i]);
        }
}

static void set_commands(Conversion *container) {
        g_autofree char *name = network_file_name(container->source);
        g_autoptr(GString) start = g_string_new(PROGRAM " create"), stop = g_string_new(PROGRAM " delete");
        g_autoptr(GPtrArray) delete = keys_find_values(container, &keys_network, "NetworkDeleteOnStop");
        g_autoptr(GPtrArray) podman_args = keys_find_values(container, &keys_network, "PodmanArgs");

        if (!unit_word_is_unexpanded(name) && !conversion_line(container, "Network", "NetworkName") &&
            !name_check_network(name, NULL))
                conversion_problem(container, NULL, "'%s' is no name of a network; set NetworkName=", name);
        unit_words_add_option(start, "--name", name);
        add_key(container, start, "--driver", "Driver");
        add_subnets(container, start);
        add_flag(container, start, "--internal", "Internal");
        add_flag(container, start, "--ipv6", "IPv6");
        add_flag(container, start, "--disable-dns", "DisableDNS");
        add_dns(container, start);
        add_key(container, start, "--ipam-driver", "IPAMDriver");
        add_key(container, start, "--interface-name", "InterfaceName");
        add_key(container, start, "--option", "Options");
        unit_words_add_options(start, "--label", container->args->labels);
        for (guint i = 0; i < podman_args->len; i++) {
                const char *word = podman_args->pdata[i];

                if (!g_str_has_prefix(word, "--ignore")) /* of a network that is there: as always */
                        unit_words_add(start, find_short_option(word) ?: word);
        }
        service_set(container->service, "ExecStart", start->str);
        if (delete->len == 0 || !g_str_equal(delete->pdata[0], "true"))
                return;
        unit_words_add_option(stop, "--name", name);
        service_set(container->service, "ExecStopPost", stop->str);
}

/* These would be of an interface of the machine's, which is not in the user's namespace. */
static void check_users(Conversion *container) {
        static const struct {
                const char *key, *wanted;
        } keys[] = { { "Driver", "bridge" }, { "IPAMDriver", "host-local" } };

        for (size_t i = 0; container->is_users && i < G_N_ELEMENTS(keys); i++) {
                g_autofree char *value = unit_file_value(container->source->unit, "Network", keys[i].key);

                if (value && !g_str_equal(value, keys[i].wanted))
                        conversion_problem(
                                container, conversion_line(container, "Network", keys[i].key),
                                "'%s' is of an interface of the machine's, and networks of users' managers "
                                "are bridges of their own: remove it and publish ports, or write this "
                                "file and its containers for the system's manager, with User= in [Service]",
                                value);
        }
}

Conversion *network_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Conversion *container = resource_new(source, service_name, names, conf, &keys_network);

        podman_args_apply(container, &podman_network_create);
        conf_modules_finish(container);
        resource_service(container, container->is_users ? "%h" : "/etc/containers/networks");
        check_users(container);
        users_container_unit(container, container->service);
        set_commands(container);
        if (!container->is_users) /* as keyturn-network@.service */
                service_confine(container->service,
                                "CAP_SYS_ADMIN CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BIND_SERVICE CAP_SYS_PTRACE "
                                "CAP_DAC_OVERRIDE",
                                NULL);
        service_limit_start(container->service, "60");
        install_apply(container);
        return container;
}
