/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/network.h"
#include "libstart/base/error.h"

bool handle_network(Container *container, const Key *key, const Value *value, GError **error) {
        const char *network = value->text;

        container->has_network = true;
        if (g_str_has_prefix(network, "ns:") || g_str_has_suffix(network, ".container") ||
            g_str_has_prefix(network, "container:"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': joining another network namespace is not in this version of keyturn; use "
                                 "host or none",
                                 network);
        if (container->args->network && !g_str_equal(container->args->network, network))
                return error_set(error, KT_ERROR_USAGE, "the network is '%s' already; a container has one",
                                 container->args->network);
        return key_set_option(container, "network", network, error);
}

bool handle_publish_port(Container *container, const Key *key, const Value *value, GError **error) {
        PublishedPort port = { g_strdup(value->text), value->line };

        g_array_append_val(container->published, port);
        return true;
}

/* Podman looks at it with --publish-all only, which is refused. */
bool handle_expose_host_port(Container *container, const Key *key, const Value *value, GError **error) {
        container_warning(container, value->line, "'%s' publishes nothing, ignoring", value->text);
        return true;
}

/* Containers have the host's network or none: a program listens on the host's ports itself. So PublishPort= with the
 * same port on both sides says nothing new, and is dropped. But 127.0.0.1:8080:80 keeps others away from the program,
 * which would now listen on all addresses: with such a line, the file must choose its network itself. */

/* FIRST[-LAST]. Digits only, which is also what Podman takes. */
static bool parse_range(const char *text, guint64 *ret_first, guint64 *ret_last) {
        g_auto(GStrv) ends = g_strsplit(text, "-", 2);

        if (!ends[0] || !g_ascii_string_to_unsigned(ends[0], 10, 1, G_MAXUINT16, ret_first, NULL))
                return false;
        *ret_last = *ret_first;
        return !ends[1] || g_ascii_string_to_unsigned(ends[1], 10, *ret_first, G_MAXUINT16, ret_last, NULL);
}

/* HOST:CONTAINER[/PROTOCOL] with the same ports on both sides and no address. A host port that is empty or 0, or
 * missing, is for Podman to choose. */
static bool is_same_port(const char *value) {
        g_autofree char *ports = g_strndup(value, strcspn(value, "/"));
        g_auto(GStrv) sides = g_strsplit(ports, ":", -1);
        guint64 host_first, host_last, first, last;

        return g_strv_length(sides) == 2 && parse_range(sides[0], &host_first, &host_last) &&
               parse_range(sides[1], &first, &last) && host_first == first && host_last == last;
}

static void check_port(Container *container, const PublishedPort *port) {
        const char *network = container->args->network;

        if (container->has_network)
                container_warning(container, port->line, "'%s' does nothing with Network=%s, ignoring", port->text,
                                  network);
        else if (g_str_equal(network, "none"))
                container_problem(container, port->line,
                                  "'%s': the container has no network, which is the default here; write Network=host "
                                  "for a program that listens on the host's ports",
                                  port->text);
        else if (is_same_port(port->text))
                container_warning(
                        container, port->line,
                        "'%s' does nothing: without Network=, the container has the host's network here, and "
                        "the program listens on that port itself",
                        port->text);
        else
                container_problem(
                        container, port->line,
                        "'%s' needs a bridge, which keyturn does not make: write Network=host, and configure "
                        "the program to listen on the address and port that others are to reach it at (with "
                        "Network=host, PublishPort= does nothing)",
                        port->text);
}

/* With the host's network these are the whole machine's. The lines of Sysctl= that say it, PodmanArgs= may. */
static void check_sysctls(Container *container) {
        const GPtrArray *sysctls = container->args->sysctls;

        for (guint i = 0; i < sysctls->len; i++) {
                const char *sysctl = sysctls->pdata[i];
                const UnitLine *line = container_line_with(container, "Container", "Sysctl", sysctl) ?:
                                               container_line_with(container, "Container", "PodmanArgs", sysctl);

                if (g_str_has_prefix(sysctl, "net."))
                        container_problem(
                                container, line,
                                "sysctl '%s' belongs to the network namespace, which is the host's %s; set it "
                                "with sysctl.d(5), or write Network=none",
                                sysctl, container->has_network ? "with Network=host" : "without Network=");
        }
}

typedef bool (*AddDns)(DnsRequest *request, const char *value, GError **error);

static void add_known(DnsRequest *request, const GPtrArray *values, AddDns add) {
        for (guint i = 0; i < values->len; i++)
                if (!strpbrk(values->pdata[i], "%$"))
                        (void) add(request, values->pdata[i], NULL); /* what is wrong with it is said already */
}

/* As far as it is known before systemd replaces what it replaces. */
static void check_dns(Container *container) {
        static const char *const keys[] = { "DNS", "DNSSearch", "DNSOption", "PodmanArgs" };
        const LaunchArgs *args = container->args;
        NetworkMode network = g_strcmp0(args->network, "none") == 0 ? NETWORK_NONE : NETWORK_HOST;
        g_auto(DnsRequest) request = { 0 };
        g_autoptr(GError) error = NULL;
        const UnitLine *line = NULL;

        add_known(&request, args->dns, dns_request_add_servers);
        add_known(&request, args->dns_search, dns_request_add_searches);
        add_known(&request, args->dns_option, dns_request_add_options);
        for (size_t i = 0; i < G_N_ELEMENTS(keys) && !line; i++)
                line = container_line(container, "Container", keys[i]);
        if (!dns_request_check(&request, network, &error))
                container_problem(container, line, "%s", error->message);
}

void network_finish(Container *container, KeyturnConf *conf) {
        const char *network, *origin;
        g_autoptr(GError) error = NULL;

        if (container->args->network)
                container->has_network = true;
        else if (container->has_network)
                return; /* the file says what is refused */
        else if (!keyturn_conf_default(conf, SETTING_NETWORK, &network, &origin, &error))
                container_problem(container, NULL, "the default network is not known: %s", error->message);
        else {
                container->args->network = g_strdup(network);
                service_comment(container->service, "Network=%s, from %s: the file itself does not say.", network,
                                origin);
        }
        for (guint i = 0; container->args->network && i < container->published->len; i++)
                check_port(container, &g_array_index(container->published, PublishedPort, i));
        if (g_strcmp0(container->args->network, "host") == 0)
                check_sysctls(container);
        check_dns(container);
}
