/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>

#include "libstart/base/error.h"
#include "libstart/json/emit.h"
#include "libstart/json/keys.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"
#include "libstart/network/definition.h"
#include "libstart/value/names.h"

#define MAX_DEPTH 16
#define LABEL_ADDRESSES "io.keyturn.addresses" /* ranges, one of each subnet, with blanks between */
/* The same on all machines. */
#define DEFAULT_NETWORK_ID "2f259bab93aaaaa2542ba43ef33eb990d0999ee1b9924b557b7be53c0b7a1bb9"

void network_definition_free(NetworkDefinition *definition) {
        g_array_unref(definition->subnets);
        yajl_tree_free(definition->tree);
        g_free(definition);
}

static bool get_bool(yajl_val value, const char *key) {
        return json_member(value, key, yajl_t_true) != NULL;
}

/* "": there is none. */
static bool read_address(const char *text, const IpPrefix *subnet, IpAddress *ret, bool *ret_is_there,
                         GError **error) {
        *ret_is_there = *text;
        if (!*text || (ip_address_parse(text, ret) && ip_prefix_contains(subnet, ret)))
                return true;
        return error_set(error, KT_ERROR_FAILED, "'%s' is no address of the subnet", text);
}

static bool read_range(yajl_val value, NetworkSubnet *subnet, GError **error) {
        bool has_first, has_last;
        AddressRange whole, range = { 0 };

        if (!address_range_of_subnet(&subnet->prefix, &whole))
                return error_set(error, KT_ERROR_FAILED, "a subnet has no addresses for containers");
        if (!read_address(json_member_string(value, "start_ip"), &subnet->prefix, &range.first, &has_first, error) ||
            !read_address(json_member_string(value, "end_ip"), &subnet->prefix, &range.last, &has_last, error))
                return false;
        subnet->range = (AddressRange) { has_first ? range.first : whole.first, has_last ? range.last : whole.last };
        subnet->has_range = has_first || has_last;
        return ip_address_compare(&subnet->range.first, &subnet->range.last) <= 0 ||
               error_set(error, KT_ERROR_FAILED, "lease_range: the first address is behind the last");
}

static bool read_subnet(yajl_val value, void *object, GError **error) {
        NetworkDefinition *definition = object;
        NetworkSubnet subnet = { 0 };

        if (!ip_prefix_parse(json_member_string(value, "subnet"), true, &subnet.prefix, error) ||
            !read_address(json_member_string(value, "gateway"), &subnet.prefix, &subnet.gateway, &subnet.has_gateway,
                          error) ||
            !read_range(json_member(value, "lease_range", yajl_t_object), &subnet, error))
                return false;
        if (!subnet.has_gateway && (!definition->internal || definition->dns)) {
                subnet.gateway = ip_prefix_first(&subnet.prefix);
                subnet.has_gateway = ip_address_step(&subnet.gateway, 1);
        }
        subnet.ours = subnet.range;
        g_array_append_val(definition->subnets, subnet);
        return true;
}

/* A label that does not fit the subnets, perhaps because someone has changed these, is none. */
static void read_label(NetworkDefinition *definition) {
        yajl_val label = json_map_value(json_member(definition->tree, "labels", yajl_t_object), LABEL_ADDRESSES,
                                        yajl_t_string);
        const char *text = label ? YAJL_GET_STRING(label) : "";
        g_auto(GStrv) words = g_strsplit(text, " ", -1);
        bool fits = g_strv_length(words) == definition->subnets->len && definition->subnets->len > 0;
        AddressRange range;

        for (guint i = 0; fits && i < definition->subnets->len; i++) {
                const NetworkSubnet *subnet = &g_array_index(definition->subnets, NetworkSubnet, i);

                fits = subnet->has_range && address_range_parse(words[i], &range, NULL) &&
                       ip_prefix_contains(&subnet->prefix, &range.first) &&
                       ip_prefix_contains(&subnet->prefix, &range.last) &&
                       !address_range_contains(&subnet->range, &range.first) &&
                       !address_range_contains(&subnet->range, &range.last) &&
                       !address_range_contains(&range, &subnet->range.first);
        }
        for (guint i = 0; fits && i < definition->subnets->len; i++)
                (void) address_range_parse(words[i], &g_array_index(definition->subnets, NetworkSubnet, i).ours,
                                           NULL);
        definition->shared = fits;
}

static bool read_network(NetworkDefinition *definition, const char *name, GError **error) {
        yajl_val tree = definition->tree, subnets = json_member(tree, "subnets", yajl_t_array);

        if (!YAJL_IS_OBJECT(tree))
                return error_set(error, KT_ERROR_FAILED, "it is no object");
        definition->name = json_member_string(tree, "name");
        definition->driver = json_member_string(tree, "driver");
        definition->interface = json_member_string(tree, "network_interface");
        definition->ipam_driver = json_member_string(json_member(tree, "ipam_options", yajl_t_object), "driver");
        definition->internal = get_bool(tree, "internal");
        definition->dns = get_bool(tree, "dns_enabled");
        if (!g_str_equal(definition->name, name))
                return error_set(error, KT_ERROR_FAILED, "the network in it has another name: '%s'",
                                 definition->name);
        if (!name_check_network(name, error) ||
            (*definition->interface && !name_check_interface(definition->interface, error)))
                return false;
        if (!*definition->driver)
                return error_set(error, KT_ERROR_FAILED, "it has no driver");
        if (subnets && !json_walk_array(subnets, read_subnet, definition, error))
                return false;
        read_label(definition);
        return true;
}

NetworkDefinition *network_definition_parse(const char *text, gsize length, const char *name, GError **error) {
        g_autoptr(NetworkDefinition) definition = g_new0(NetworkDefinition, 1);

        definition->subnets = g_array_new(FALSE, FALSE, sizeof(NetworkSubnet));
        definition->tree = json_parse(text, length, MAX_DEPTH, error);
        return definition->tree && read_network(definition, name, error) ? g_steal_pointer(&definition) : NULL;
}

bool network_definition_gives_addresses(const NetworkDefinition *definition) {
        return (!*definition->ipam_driver || g_str_equal(definition->ipam_driver, "host-local")) &&
               definition->subnets->len > 0;
}

void network_address_emit(yajl_gen gen, const char *key, const IpAddress *address) {
        g_autofree char *text = ip_address_format(address);

        json_emit_key_string(gen, key, text);
}

static void emit_subnet(yajl_gen gen, const NetworkSubnet *subnet) {
        g_autofree char *prefix = ip_prefix_format(&subnet->prefix);

        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "subnet", prefix);
        if (subnet->has_gateway)
                network_address_emit(gen, "gateway", &subnet->gateway);
        if (subnet->has_range) {
                json_emit_string(gen, "lease_range");
                yajl_gen_map_open(gen);
                network_address_emit(gen, "start_ip", &subnet->range.first);
                network_address_emit(gen, "end_ip", &subnet->range.last);
                yajl_gen_map_close(gen);
        }
        yajl_gen_map_close(gen);
}

void network_subnets_emit(yajl_gen gen, const GArray *subnets) {
        json_emit_string(gen, "subnets");
        yajl_gen_array_open(gen);
        for (guint i = 0; i < subnets->len; i++)
                emit_subnet(gen, &g_array_index(subnets, NetworkSubnet, i));
        yajl_gen_array_close(gen);
}

static void emit_labels(yajl_gen gen, const NetworkDefinition *definition) {
        yajl_val labels = json_member(definition->tree, "labels", yajl_t_object);
        g_autoptr(GString) ranges = g_string_new(NULL);

        json_emit_string(gen, "labels");
        yajl_gen_map_open(gen);
        for (size_t i = 0; labels && i < labels->u.object.len; i++)
                if (!g_str_equal(labels->u.object.keys[i], LABEL_ADDRESSES)) {
                        json_emit_string(gen, labels->u.object.keys[i]);
                        json_emit_value(gen, labels->u.object.values[i]);
                }
        for (guint i = 0; i < definition->subnets->len; i++) {
                g_autofree char *text = address_range_format(
                        &g_array_index(definition->subnets, NetworkSubnet, i).ours);

                g_string_append_printf(ranges, "%s%s", i > 0 ? " " : "", text);
        }
        if (definition->shared)
                json_emit_key_string(gen, LABEL_ADDRESSES, ranges->str);
        yajl_gen_map_close(gen);
}

void network_definition_emit(const NetworkDefinition *definition, yajl_gen gen) {
        yajl_val tree = definition->tree;

        yajl_gen_map_open(gen);
        for (size_t i = 0; i < tree->u.object.len; i++) {
                const char *key = tree->u.object.keys[i];

                if (json_key_equal(key, "subnets") || json_key_equal(key, "labels"))
                        continue;
                json_emit_string(gen, key);
                json_emit_value(gen, tree->u.object.values[i]);
        }
        if (definition->subnets->len > 0)
                network_subnets_emit(gen, definition->subnets);
        emit_labels(gen, definition);
        yajl_gen_map_close(gen);
}

char *network_definition_format(const NetworkDefinition *definition) {
        yajl_gen gen = json_emit_new(true);

        network_definition_emit(definition, gen);
        return json_emit_finish(gen);
}

NetworkDefinition *network_definition_default(const char *name, const char *subnet, GError **error) {
        yajl_gen gen = json_emit_new(false);
        g_autofree char *text = NULL;

        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "name", name);
        json_emit_key_string(gen, "id", DEFAULT_NETWORK_ID);
        json_emit_key_string(gen, "driver", "bridge");
        json_emit_key_string(gen, "network_interface", "podman0");
        json_emit_key_string(gen, "created", "1970-01-01T00:00:00Z");
        json_emit_string(gen, "subnets");
        yajl_gen_array_open(gen);
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "subnet", subnet);
        yajl_gen_map_close(gen);
        yajl_gen_array_close(gen);
        json_emit_key_bool(gen, "ipv6_enabled", strchr(subnet, ':') != NULL);
        json_emit_key_bool(gen, "internal", false);
        json_emit_key_bool(gen, "dns_enabled", false);
        json_emit_string(gen, "ipam_options");
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "driver", "host-local");
        yajl_gen_map_close(gen);
        yajl_gen_map_close(gen);
        text = json_emit_finish(gen);
        return network_definition_parse(text, strlen(text), name, error);
}

bool network_definition_share(NetworkDefinition *definition) {
        g_autoptr(GArray) subnets = NULL;

        if (definition->shared || !network_definition_gives_addresses(definition))
                return false;
        subnets = g_array_copy(definition->subnets);
        for (guint i = 0; i < subnets->len; i++) {
                NetworkSubnet *subnet = &g_array_index(subnets, NetworkSubnet, i);

                /* So few addresses, in a range that someone wanted, stay together. */
                if (!address_range_halve(&subnet->range, &subnet->range, &subnet->ours))
                        return false;
                subnet->has_range = true;
        }
        g_array_unref(definition->subnets);
        definition->subnets = g_steal_pointer(&subnets);
        definition->shared = true;
        return true;
}
