/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/network/network-references.h"
#include "generator/network/network-ring.h"
#include "generator/network/network.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/pasta.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/file-reference.h"
#include "libstart/base/error.h"
#include "libstart/request/network-mode.h"
#include "libstart/request/network-request.h"
#include "libstart/value/capability.h"
#include "libstart/value/port-mapping.h"
#include "libstart/value/unit-words.h"

/*
 * Network=: one namespace, or networks
 */

/* --network=, as libstart has it: what excludes everything else. */
static bool set_namespace(Conversion *container, const char *network, GError **error) {
        const char *other = container->args->network;

        if (container->network.made->len > 0)
                other = g_array_index(container->network.made, Noted, 0).text;
        if (other && !g_str_equal(other, network))
                return error_set(error, KT_ERROR_USAGE,
                                 "the network is '%s' already; a container has one, or several bridges", other);
        return key_set_option(container, "network", network, error);
}

/* A container's service, as the name of its state. */
static bool set_container(Conversion *container, const char *given, const char *service, GError **error) {
        g_autofree char *unit = g_strndup(service, strlen(service) - strlen(".service"));
        g_autofree char *network = g_strconcat("container:", unit, NULL);

        if (!network_ring_check(container, given, service, error))
                return false;
        service_unit(container->service, "Requires", service);
        service_unit(container->service, "After", service);
        return set_namespace(container, network, error);
}

static bool join_file(Conversion *container, const char *file, GError **error) {
        g_auto(FileReference) other = { 0 };

        return file_reference_find(container, file, &other, error) &&
               set_container(container, file, other.service, error);
}

/* Who starts and stops it, nobody tells here. */
static bool join_podmans(Conversion *container, const Value *value, const char *name, GError **error) {
        g_autofree char *network = g_strconcat("podman:", name, NULL);

        conversion_difference(
                container, value->line,
                "no .container file here makes a container '%s': one of Podman's has to run when this one is "
                "started, and this one loses its network when that one ends; write After= and BindsTo= of its "
                "service in [Unit]",
                name);
        return set_namespace(container, network, error);
}

static bool join_container(Conversion *container, const Value *value, GError **error) {
        const char *name = value->text + strlen("container:");
        const char *service = unit_names_container(container->names, name);

        return service ? set_container(container, value->text, service, error) :
                         join_podmans(container, value, name, error);
}

/* What systemd may have to expand cannot be looked at yet. */
static bool add_network(Conversion *container, const char *network, const UnitLine *line, GError **error) {
        g_autoptr(GPtrArray) requests = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free);

        if (!unit_word_is_unexpanded(network) && !network_request_parse(network, requests, error))
                return false;
        if (container->args->network || pasta_is_of(container))
                return set_namespace(container, network, error);
        noted_add(container->network.made, network, line);
        return true;
}

static bool refer_to_file(Conversion *container, const Value *value, GError **error) {
        char *service = NULL;
        g_autofree char *network = network_refer(container, value->text, &service, error);

        if (!network)
                return false;
        g_ptr_array_add(container->network.services, service);
        return add_network(container, network, value->line, error);
}

/* Or with options of its own, "slirp4netns:...". */
static bool is_slirp4netns(const char *network) {
        static const char name[] = "slirp4netns";

        return g_str_has_prefix(network, name) && strchr(":", network[strlen(name)]);
}

static bool set_pasta(Conversion *container, const Value *value, GError **error) {
        if (container->args->network || container->network.made->len > 0)
                return set_namespace(container, value->text, error);
        if (!pasta_check_options(value->text, error))
                return false;
        noted_add(container->network.made, value->text, value->line);
        return true;
}

bool handle_network(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *name = g_strndup(value->text, strcspn(value->text, ":"));
        const char *network = value->text;

        container->network.is_said = true;
        if (container->is_users && network_mode_is_pasta(network))
                return set_pasta(container, value, error);
        if (network_mode_is_pasta(network) || is_slirp4netns(network))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 container->is_users ?
                                         "'%s' is what older Podmans had for users; write Network=pasta, which is a "
                                         "way out with ports, too (its options are pasta's)" :
                                         "'%s' is what rootless Podman has in place of a bridge; here, bridge is one",
                                 network);
        if (g_str_equal(network, "host") || g_str_equal(network, "none") || g_str_has_prefix(network, "ns:"))
                return set_namespace(container, network, error);
        if (g_str_has_prefix(network, "container:"))
                return join_container(container, value, error);
        if (g_str_has_suffix(name, ".container") && !g_str_equal(network, name))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': the network of another container is as that one has it: write Network=%s",
                                 network, name);
        if (g_str_has_suffix(name, ".container"))
                return join_file(container, network, error);
        if (g_str_has_suffix(name, ".network"))
                return refer_to_file(container, value, error);
        if (g_str_equal(network, "private") || g_str_equal(network, "default"))
                network = "bridge";
        return add_network(container, network, value->line, error);
}

/*
 * What is asked of the networks
 */

bool handle_publish_port(Conversion *container, const Key *key, const Value *value, GError **error) {
        PortMapping mapping;

        noted_add(container->network.published, value->text, value->line);
        return unit_word_is_unexpanded(value->text) || port_mapping_parse(value->text, &mapping, error);
}

/* Podman looks at it with --publish-all only, which is refused. */
bool handle_expose_host_port(Conversion *container, const Key *key, const Value *value, GError **error) {
        conversion_warning(container, value->line, "'%s' publishes nothing, ignoring", value->text);
        return true;
}

static bool wish(Conversion *container, const char *option, const Value *value) {
        g_autofree char *text = g_strconcat(option, "=", value->text, NULL);

        noted_add(container->network.wishes, text, value->line);
        return true;
}

/* IP= and IP6=; key->text is the option of a network. */
bool handle_ip(Conversion *container, const Key *key, const Value *value, GError **error) {
        IpAddress address;

        if (!unit_word_is_unexpanded(value->text) && !ip_address_parse(value->text, &address))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no address", value->text);
        return wish(container, key->text, value);
}

bool handle_network_alias(Conversion *container, const Key *key, const Value *value, GError **error) {
        return wish(container, "alias", value);
}

bool network_set_mac(Conversion *container, const char *value, GError **error) {
        const UnitLine *line = conversion_line_with(container, container->section, "PodmanArgs", value);

        return wish(container, "mac", &(Value) { .text = (char *) value, .line = line });
}

/* Aliases are for all networks; an address is for the one that there is. */
static void grant(Conversion *container, const Noted *wish) {
        bool is_alias = g_str_has_prefix(wish->text, "alias=");

        if (!is_alias && container->network.made->len > 1) {
                conversion_problem(container, wish->line,
                                   "'%s' is for one network, and there are several: write Network=NAME:%s",
                                   strchr(wish->text, '=') + 1, wish->text);
                return;
        }
        for (guint i = 0; i < container->network.made->len; i++) {
                Noted *network = &g_array_index(container->network.made, Noted, i);
                char *text = g_strconcat(network->text, strchr(network->text, ':') ? "," : ":", wish->text, NULL);

                g_free(network->text);
                network->text = text;
        }
}

/* Each has been read already, but for what it was granted. */
static void check_granted(Conversion *container) {
        for (guint i = 0; i < container->network.made->len; i++) {
                const Noted *network = &g_array_index(container->network.made, Noted, i);
                g_autoptr(GPtrArray) requests = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free);
                g_autoptr(GError) error = NULL;

                if (!unit_word_is_unexpanded(network->text) &&
                    !network_request_parse(network->text, requests, &error))
                        conversion_problem(container, network->line, "%s", error->message);
        }
}

/* Two of which no container can have both. */
static void check_conflicts(Conversion *container) {
        g_autoptr(GArray) mappings = g_array_new(FALSE, FALSE, sizeof(PortMapping));

        for (guint i = 0; i < container->network.published->len; i++) {
                const Noted *port = &g_array_index(container->network.published, Noted, i);
                PortMapping mapping;

                if (unit_word_is_unexpanded(port->text) || !port_mapping_parse(port->text, &mapping, NULL))
                        continue;
                for (guint j = 0; j < mappings->len; j++)
                        if (port_mapping_conflicts(&mapping, &g_array_index(mappings, PortMapping, j)))
                                conversion_problem(container, port->line,
                                                   "'%s': this port of the machine leads to another one already",
                                                   port->text);
                g_array_append_val(mappings, mapping);
        }
}

/* An address would be of a network that others are in, too. */
static void finish_pasta(Conversion *container) {
        for (guint i = 0; i < container->network.wishes->len; i++) {
                const Noted *wish = &g_array_index(container->network.wishes, Noted, i);

                conversion_problem(container, wish->line, "'%s' is for a bridge, and pasta is none",
                                   strchr(wish->text, '=') + 1);
        }
        pasta_check_ports(container);
        check_conflicts(container);
}

static void finish_networks(Conversion *container) {
        if (pasta_is_of(container)) {
                finish_pasta(container);
                return;
        }
        for (guint i = 0; i < container->network.wishes->len; i++)
                grant(container, &g_array_index(container->network.wishes, Noted, i));
        if (container->network.wishes->len > 0)
                check_granted(container);
        check_conflicts(container);
        if (container->is_users)
                pasta_check_ports(container);
}

/* Without a bridge there is nothing to publish, as Podman says, too, and no address to choose. */
static void finish_namespace(Conversion *container) {
        const char *network = container->args->network;

        for (guint i = 0; i < container->network.published->len; i++) {
                const Noted *port = &g_array_index(container->network.published, Noted, i);

                conversion_warning(container, port->line, "'%s' does nothing with Network=%s, ignoring", port->text,
                                   network);
        }
        for (guint i = 0; i < container->network.wishes->len; i++) {
                const Noted *wish = &g_array_index(container->network.wishes, Noted, i);

                conversion_problem(container, wish->line, "'%s' is for a bridge, and there is none with Network=%s",
                                   strchr(wish->text, '=') + 1, network);
        }
}

/* The network belongs to the user namespace of the container whose it is, or to the host's: there the kernel asks for
 * them. */
static void check_capabilities(Conversion *container) {
        const LaunchArgs *args = container->args;

        if ((g_str_has_prefix(args->network, "container:") || g_str_has_prefix(args->network, "podman:")) &&
            user_namespace_may_be_own(args) && !g_str_has_prefix(args->userns ?: "", "ns:") &&
            (args->privileged == FLAG_TRUE || network_capabilities(args->cap_add) & CAPABILITY_NETWORK))
                conversion_warning(
                        container, conversion_line(container, container->section, "AddCapability"),
                        "NET_ADMIN and NET_RAW have no effect on another container's network from within a user "
                        "namespace of its own: give them to that container, or put both in a pod with UserNS=");
}

/* What asks for ports or addresses asks for a bridge. */
static bool wants_bridge(const Conversion *container) {
        return container->network.published->len > 0 || container->network.wishes->len > 0;
}

static bool has_network_sysctls(const Conversion *container) {
        const GPtrArray *sysctls = container->args->sysctls;

        for (guint i = 0; i < sysctls->len; i++)
                if (g_str_has_prefix(sysctls->pdata[i], "net."))
                        return true;
        return false;
}

/* Where the file does not say. The host's sysctls are not a container's. */
static void choose_network(Conversion *container) {
        const char *own = container->is_users && container->network.wishes->len == 0 ? "pasta" : "bridge",
                   *network = own, *origin;
        g_autoptr(GError) error = NULL;

        if (wants_bridge(container))
                service_comment(container->service, "Network=%s, for its ports: the file itself does not say.", own);
        else if (!keyturn_conf_default(container->conf, SETTING_NETWORK, &network, &origin, &error)) {
                conversion_problem(container, NULL, "the default network is not known: %s", error->message);
                return;
        } else if (g_str_equal(network, "host") && has_network_sysctls(container)) {
                service_comment(container->service, "Network=%s, for its sysctls: the file itself does not say.",
                                own);
                network = own;
        } else
                service_comment(container->service, "Network=%s, from %s: the file itself does not say.", network,
                                origin);
        if (!g_str_equal(network, "bridge") && !network_mode_is_pasta(network)) {
                container->args->network = g_strdup(network);
                return;
        }
        container->network.is_said = true; /* as for Podman */
        noted_add(container->network.made, network, NULL);
}

void network_finish(Conversion *container) {
        bool is_refused = container->network.is_said && !container->args->network &&
                          container->network.made->len == 0;

        if (is_refused) /* which is said already */
                return;
        if (!container->args->network && container->network.made->len == 0)
                choose_network(container);
        if (container->network.made->len > 0)
                finish_networks(container);
        else if (container->args->network)
                finish_namespace(container);
        if (container->args->network)
                check_capabilities(container);
}
