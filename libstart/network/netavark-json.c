/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/emit.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"
#include "libstart/network/netavark-json.h"

#define MAX_DEPTH 32
#define KEY_UNIT "keyturn_unit" /* netavark skips what it does not know */

void attachment_free(Attachment *attachment) {
        network_definition_free(attachment->definition);
        g_array_unref(attachment->addresses);
        g_free(attachment->mac);
        g_free(attachment->interface_name);
        g_free(attachment);
}

/*
 * Writing
 */

static void emit_strings(yajl_gen gen, const char *key, const GPtrArray *strings) {
        json_emit_string(gen, key);
        yajl_gen_array_open(gen);
        for (guint i = 0; i < strings->len; i++)
                json_emit_string(gen, strings->pdata[i]);
        yajl_gen_array_close(gen);
}

static void emit_addresses(yajl_gen gen, const char *key, const GArray *addresses) {
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < addresses->len; i++)
                g_ptr_array_add(texts, ip_address_format(&g_array_index(addresses, IpAddress, i)));
        emit_strings(gen, key, texts);
}

/* Others find a container by its host name, too, as podman has it since 5.3. */
static void emit_aliases(yajl_gen gen, const GPtrArray *aliases, const char *hostname) {
        g_autoptr(GPtrArray) all = g_ptr_array_new();

        g_ptr_array_extend(all, (GPtrArray *) aliases, NULL, NULL);
        if (hostname && !g_ptr_array_find_with_equal_func(all, hostname, g_str_equal, NULL))
                g_ptr_array_add(all, (void *) hostname);
        emit_strings(gen, "aliases", all);
}

static void emit_attachment(yajl_gen gen, const Attachment *attachment, const char *hostname) {
        json_emit_string(gen, attachment->definition->name);
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "interface_name", attachment->interface_name);
        if (attachment->addresses->len > 0)
                emit_addresses(gen, "static_ips", attachment->addresses);
        if (attachment->mac)
                json_emit_key_string(gen, "static_mac", attachment->mac);
        emit_aliases(gen, attachment->request->aliases, hostname);
        yajl_gen_map_close(gen);
}

static void emit_port(yajl_gen gen, const PortMapping *port, const char *protocol) {
        yajl_gen_map_open(gen);
        json_emit_key_number(gen, "container_port", port->container_port);
        json_emit_key_string(gen, "host_ip", port->host_ip);
        json_emit_key_number(gen, "host_port", port->host_port);
        json_emit_key_string(gen, "protocol", protocol);
        json_emit_key_number(gen, "range", port->range);
        yajl_gen_map_close(gen);
}

static const struct {
        PortProtocols flag;
        const char *name;
} protocols[] = {
        { PORT_TCP, "tcp" },
        { PORT_UDP, "udp" },
        { PORT_SCTP, "sctp" },
};

static void emit_ports(yajl_gen gen, const GArray *ports) {
        json_emit_string(gen, "port_mappings");
        yajl_gen_array_open(gen);
        for (guint i = 0; i < ports->len; i++) {
                const PortMapping *port = &g_array_index(ports, PortMapping, i);

                for (size_t j = 0; j < G_N_ELEMENTS(protocols); j++)
                        if (port->protocols & protocols[j].flag)
                                emit_port(gen, port, protocols[j].name);
        }
        yajl_gen_array_close(gen);
}

char *netavark_format_setup(const Setup *setup) {
        g_autofree char *seed = g_strconcat("keyturn ", setup->unit, NULL);
        g_autofree char *id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, seed, -1);
        yajl_gen gen = json_emit_new(true);

        yajl_gen_map_open(gen);
        json_emit_key_string(gen, KEY_UNIT, setup->unit);
        json_emit_key_string(gen, "container_id", id);
        json_emit_key_string(gen, "container_name", setup->container_name);
        if (setup->hostname)
                json_emit_key_string(gen, "container_hostname", setup->hostname);
        json_emit_string(gen, "networks");
        yajl_gen_map_open(gen);
        for (guint i = 0; i < setup->attachments->len; i++)
                emit_attachment(gen, setup->attachments->pdata[i], setup->hostname);
        yajl_gen_map_close(gen);
        json_emit_string(gen, "network_info");
        yajl_gen_map_open(gen);
        for (guint i = 0; i < setup->attachments->len; i++) {
                const Attachment *attachment = setup->attachments->pdata[i];

                json_emit_string(gen, attachment->definition->name);
                network_definition_emit(attachment->definition, gen);
        }
        yajl_gen_map_close(gen);
        emit_ports(gen, setup->ports);
        if (setup->dns_servers->len > 0)
                emit_strings(gen, "dns_servers", setup->dns_servers);
        yajl_gen_map_close(gen);
        return json_emit_finish(gen);
}

/*
 * Reading
 */

static void summary_network_free(void *data) {
        SummaryNetwork *network = data;

        g_free(network->name);
        g_free(network->bridge);
        g_array_unref(network->addresses);
        g_free(network);
}

void setup_summary_free(SetupSummary *summary) {
        g_free(summary->unit);
        g_free(summary->container_name);
        g_free(summary->hostname);
        g_ptr_array_unref(summary->networks);
        g_array_unref(summary->ports);
        g_free(summary);
}

static guint16 get_port(yajl_val value, const char *key) {
        yajl_val number = json_member(value, key, yajl_t_number);

        return number && YAJL_IS_INTEGER(number) ? (guint16) CLAMP(YAJL_GET_INTEGER(number), 0, G_MAXUINT16) : 0;
}

/* Number of elements, 0 where it is no array. */
static size_t array_length(yajl_val value) {
        return YAJL_IS_ARRAY(value) ? value->u.array.len : 0;
}

static SummaryNetwork *read_network(const char *name, yajl_val options, yajl_val infos) {
        SummaryNetwork *network = g_new0(SummaryNetwork, 1);
        yajl_val addresses = json_member(options, "static_ips", yajl_t_array);
        yajl_val info = json_map_value(infos, name, yajl_t_object);

        network->name = g_strdup(name);
        network->is_bridge = g_str_equal(json_member_string(info, "driver"), "bridge");
        if (network->is_bridge &&
            !g_str_equal(json_member_string(json_member(info, "options", yajl_t_object), "mode"), "unmanaged"))
                network->bridge = g_strdup(json_member_string(info, "network_interface"));
        network->internal = json_member(info, "internal", yajl_t_true) != NULL;
        network->addresses = g_array_new(FALSE, FALSE, sizeof(IpAddress));
        for (size_t i = 0; i < array_length(addresses); i++) {
                const char *text = YAJL_GET_STRING(addresses->u.array.values[i]);
                IpAddress address;

                if (text && ip_address_parse(text, &address))
                        g_array_append_val(network->addresses, address);
        }
        return network;
}

static void read_port(SetupSummary *summary, yajl_val value) {
        PortMapping port = {
                .host_port = get_port(value, "host_port"),
                .container_port = get_port(value, "container_port"),
                .range = get_port(value, "range"),
        };

        g_strlcpy(port.host_ip, json_member_string(value, "host_ip"), sizeof port.host_ip);
        for (size_t i = 0; i < G_N_ELEMENTS(protocols); i++)
                if (g_str_equal(json_member_string(value, "protocol"), protocols[i].name))
                        port.protocols = protocols[i].flag;
        g_array_append_val(summary->ports, port);
}

static SetupSummary *read_summary(yajl_val tree) {
        SetupSummary *summary = g_new0(SetupSummary, 1);
        yajl_val networks = json_member(tree, "networks", yajl_t_object),
                 ports = json_member(tree, "port_mappings", yajl_t_array);

        summary->unit = g_strdup(json_member_string(tree, KEY_UNIT));
        summary->container_name = g_strdup(json_member_string(tree, "container_name"));
        summary->hostname = g_strdup(json_member_string(tree, "container_hostname"));
        summary->networks = g_ptr_array_new_with_free_func(summary_network_free);
        summary->ports = g_array_new(FALSE, FALSE, sizeof(PortMapping));
        for (size_t i = 0; networks && i < networks->u.object.len; i++)
                g_ptr_array_add(summary->networks,
                                read_network(networks->u.object.keys[i], networks->u.object.values[i],
                                             json_member(tree, "network_info", yajl_t_object)));
        for (size_t i = 0; i < array_length(ports); i++)
                read_port(summary, ports->u.array.values[i]);
        return summary;
}

SetupSummary *netavark_parse_setup(const char *text, gsize length, GError **error) {
        g_auto(yajl_val) tree = json_parse(text, length, MAX_DEPTH, error);

        return tree ? read_summary(tree) : NULL;
}

NetworkDefinition *netavark_parse_definition(const char *text, const char *network, GError **error) {
        g_auto(yajl_val) tree = json_parse(text, strlen(text), MAX_DEPTH, error);
        yajl_val info = json_map_value(json_member(tree, "network_info", yajl_t_object), network, yajl_t_object);
        g_autofree char *described = NULL;
        yajl_gen gen;

        if (!tree)
                return NULL;
        if (!info)
                return error_null(error, KT_ERROR_FAILED, "nothing describes the network '%s'", network);
        gen = json_emit_new(false);
        json_emit_value(gen, info);
        described = json_emit_finish(gen);
        return network_definition_parse(described, strlen(described), network, error);
}

/*
 * The names
 */

/* What becomes a line must not begin another. */
static bool append_address(GString *text, const char *key, const char *value, const char *behind, GError **error) {
        g_autofree char *clean = NULL;
        IpAddress address;

        if (!ip_address_parse(value, &address))
                return error_set(error, KT_ERROR_FAILED, "netavark says '%s' where an address should be", value);
        clean = ip_address_format(&address);
        g_string_append_printf(text, "%s %s%s\n", key, clean, behind);
        return true;
}

typedef struct Names {
        GString *text, *gateway; /* the best that was found */
        unsigned rank;           /* of that */
        const char *own;         /* " NAME NAME" */
} Names;

/* The machine, where it is the gateway: on bridges. On an internal one it is there, too, but is somebody else's way
 * out: IPv4 is preferred, as podman has it. */
static bool take_gateway(Names *names, const SummaryNetwork *network, const char *gateway, GError **error) {
        unsigned rank = 1 + (network->internal ? 0 : 2) + (strchr(gateway, ':') ? 0 : 1);

        if (!*gateway || !network->is_bridge || rank <= names->rank)
                return true;
        names->rank = rank;
        g_string_truncate(names->gateway, 0);
        return append_address(names->gateway, "gateway", gateway, "", error);
}

static bool read_interface(Names *names, yajl_val interface, const SummaryNetwork *network, GError **error) {
        yajl_val subnets = json_member(interface, "subnets", yajl_t_array);

        for (size_t i = 0; i < array_length(subnets); i++) {
                yajl_val subnet = subnets->u.array.values[i];
                const char *net = json_member_string(subnet, "ipnet"),
                           *gateway = json_member_string(subnet, "gateway");
                g_autofree char *address = g_strndup(net, strcspn(net, "/"));

                if (!append_address(names->text, "host", address, names->own, error))
                        return false;
                if (!take_gateway(names, network, gateway, error))
                        return false;
        }
        return true;
}

static bool read_dns(GString *text, yajl_val block, GError **error) {
        yajl_val servers = json_member(block, "dns_server_ips", yajl_t_array);
        yajl_val domains = json_member(block, "dns_search_domains", yajl_t_array);

        for (size_t i = 0; i < array_length(servers); i++)
                if (!append_address(text, "nameserver", YAJL_GET_STRING(servers->u.array.values[i]) ?: "", "", error))
                        return false;
        for (size_t i = 0; i < array_length(domains); i++) {
                const char *domain = YAJL_GET_STRING(domains->u.array.values[i]) ?: "";
                g_autofree char *line = g_strdup_printf("search %s\n", domain);

                if (strcspn(domain, " \t\r\n#") != strlen(domain) || !*domain)
                        return error_set(error, KT_ERROR_FAILED, "netavark says '%s' where a domain should be",
                                         domain);
                if (!strstr(text->str, line)) /* two networks have the same domain */
                        g_string_append(text, line);
        }
        return true;
}

static bool read_block(Names *names, yajl_val tree, const SummaryNetwork *network, GError **error) {
        yajl_val block = json_map_value(tree, network->name, yajl_t_object),
                 interfaces = json_member(block, "interfaces", yajl_t_object);

        if (!block)
                return error_set(error, KT_ERROR_FAILED, "netavark says nothing about the network '%s'",
                                 network->name);
        for (size_t i = 0; interfaces && i < interfaces->u.object.len; i++)
                if (!read_interface(names, interfaces->u.object.values[i], network, error))
                        return false;
        return read_dns(names->text, block, error);
}

static bool read_status(Names *names, yajl_val tree, const SetupSummary *setup, GError **error) {
        for (guint i = 0; i < setup->networks->len; i++)
                if (!read_block(names, tree, setup->networks->pdata[i], error))
                        return false;
        g_string_append_len(names->text, names->gateway->str, (gssize) names->gateway->len);
        return true;
}

char *netavark_format_names(const char *status, gsize length, const SetupSummary *setup, GError **error) {
        bool has_hostname = *setup->hostname && !g_str_equal(setup->hostname, setup->container_name);
        g_autofree char *own = g_strconcat(has_hostname ? " " : "", has_hostname ? setup->hostname : "", " ",
                                           setup->container_name, NULL);
        g_autoptr(GString) text = g_string_new(NULL), gateway = g_string_new(NULL);
        Names names = { text, gateway, 0, own };
        g_auto(yajl_val) tree = json_parse_map(status, length, MAX_DEPTH, error);

        return tree && read_status(&names, tree, setup, error) ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

char *netavark_parse_error(const char *text, gsize length) {
        g_auto(yajl_val) tree = json_parse(text, length, MAX_DEPTH, NULL);
        const char *said = json_member_string(tree, "error");

        return *said ? g_strdup(said) : NULL;
}
