/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/pasta.h"
#include "libstart/value/names.h"
#include "libstart/value/port-mapping.h"

#define PASTA "pasta"
#define TUN "/dev/net/tun"
#define PATH_PASTA "/usr/bin/pasta"

/* Podman's: addresses that nobody else has. The first answers for the machine's DNS server; the second is the
 * machine, for a pasta of 2024 or later. */
#define DNS "169.254.1.1"
#define MACHINE "169.254.1.2"
#define MAP_MACHINE "--map-guest-addr"

static void add(GPtrArray *words, const char *word) {
        g_ptr_array_add(words, g_strdup(word));
}

/* The value of "--name VALUE" or "--name=VALUE" that stands in the word; NULL: the word is another. */
static const char *match(const char *word, const char *next, const char *name) {
        size_t length = strlen(name);

        if (strncmp(word, name, length) != 0)
                return NULL;
        return word[length] == '=' ? word + length + 1 : word[length] == '\0' ? next ?: "" : NULL;
}

/* Of a short one the value may be in the word: -T5432. */
static bool has(const GPtrArray *words, const char *short_name, const char *long_name) {
        for (guint i = 0; i < words->len; i++)
                if (match(words->pdata[i], NULL, long_name) ||
                    (short_name && g_str_has_prefix(words->pdata[i], short_name)))
                        return true;
        return false;
}

/* "127.0.0.1/8080-8081:80-81" */
static void add_port(GPtrArray *words, const char *option, const PortMapping *port) {
        const char *slash = port->host_ip[0] ? "/" : "";

        add(words, option);
        g_ptr_array_add(words, g_strdup_printf("%s%s%u-%u:%u-%u", port->host_ip, slash, port->host_port,
                                               port->host_port + port->range - 1u, port->container_port,
                                               port->container_port + port->range - 1u));
}

static bool add_ports(GPtrArray *words, const GArray *ports, GError **error) {
        for (guint i = 0; i < ports->len; i++) {
                const PortMapping *port = &g_array_index(ports, PortMapping, i);

                if (port->protocols & PORT_SCTP)
                        return error_set(error, KT_ERROR_USAGE,
                                         "pasta knows the ports of tcp and udp, and not of sctp");
                if (port->protocols & PORT_TCP)
                        add_port(words, "-t", port);
                if (port->protocols & PORT_UDP)
                        add_port(words, "-u", port);
        }
        return true;
}

/* No ports lead anywhere that nobody asked for, and none of the machine's are to be had from inside. */
static void add_defaults(GPtrArray *words) {
        static const struct {
                const char *short_name, *long_name, *value;
        } options[] = {
                { "-t", "--tcp-ports", "none" }, { "-u", "--udp-ports", "none" }, { "-T", "--tcp-ns", "none" },
                { "-U", "--udp-ns", "none" },    { NULL, "--dns-forward", DNS },  { NULL, MAP_MACHINE, MACHINE },
        };
        guint map_gateway = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (!has(words, options[i].short_name, options[i].long_name)) {
                        add(words, options[i].short_name ?: options[i].long_name);
                        add(words, options[i].value);
                }
        /* Which is Podman's word, and none of pasta's. */
        if (!g_ptr_array_find_with_equal_func(words, "--map-gw", g_str_equal, &map_gateway))
                add(words, "--no-map-gw");
        else
                g_ptr_array_remove_index(words, map_gateway);
        add(words, "--quiet");
}

char *pasta_format_words(const NetworkConf *conf, const char *network, const GArray *ports, const char *netns,
                         GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        const char *colon = strchr(network, ':');
        g_auto(GStrv) options = g_strsplit(colon ? colon + 1 : "", ",", -1);

        g_ptr_array_add(words, network_conf_find_helper(conf, PASTA) ?: g_strdup(PATH_PASTA));
        add(words, "--config-net");
        for (guint i = 0; i < conf->pasta_options->len; i++)
                add(words, conf->pasta_options->pdata[i]);
        for (char **option = options; *option; option++)
                add(words, *option);
        if (!add_ports(words, ports, error))
                return NULL;
        add_defaults(words);
        /* Its unit ends it. Else it watches a directory that Debian's profile for AppArmor does not let it open. */
        add(words, "--no-netns-quit");
        add(words, "--netns");
        add(words, netns);
        add(words, ""); /* behind the last line's end */
        g_ptr_array_add(words, NULL);
        return g_strjoinv("\n", (char **) words->pdata);
}

/*
 * Running it
 */

/* One that is too old refuses it, and writes a hundred lines of usage to the log, which --help does, too. So its file
 * is asked. */
static bool knows_machine(const char *program) {
        g_autofree char *file = NULL;
        gsize size = 0;

        return g_file_get_contents(program, &file, &size, NULL) &&
               memmem(file, size, MAP_MACHINE + 2, strlen(MAP_MACHINE) - 2);
}

/* Which one that is too old would refuse. */
static void forget_machine(char **words) {
        for (char **word = words; *word; word++)
                if (g_str_equal(*word, MAP_MACHINE) && word[1]) {
                        g_free(word[0]);
                        g_free(word[1]);
                        memmove(word, word + 2, (g_strv_length(word + 2) + 1) * sizeof *word);
                        return;
                }
}

static bool run(char *const *words, GError **error) {
        if (host_program_run((const char *const *) words, PASTA, error))
                return true;
        if (access(TUN, R_OK | W_OK) < 0)
                g_prefix_error(error, "Users cannot open '" TUN "', which udev gives mode 0666: ");
        return false;
}

static const char *find_value(char *const *words, const char *name) {
        const char *value = NULL;

        for (; *words && !value; words++)
                value = match(words[0], words[1], name);
        return value;
}

static void append_address(GString *names, const struct ifaddrs *interface) {
        const struct sockaddr *address = interface->ifa_addr;
        char text[INET6_ADDRSTRLEN];

        if (!address || interface->ifa_flags & IFF_LOOPBACK)
                return;
        if (address->sa_family == AF_INET)
                inet_ntop(AF_INET, &((const struct sockaddr_in *) address)->sin_addr, text, sizeof text);
        else if (address->sa_family == AF_INET6 &&
                 !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *) address)->sin6_addr))
                inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) address)->sin6_addr, text, sizeof text);
        else
                return;
        g_string_append_printf(names, "host %s\n", text);
}

/* This process stays in the namespace, where it has nothing else to do. */
static bool append_addresses(GString *names, const char *pin, GError **error) {
        _cleanup_close_ int ns = open(pin, O_RDONLY | O_CLOEXEC);
        struct ifaddrs *all = NULL;

        if (ns < 0 || setns(ns, CLONE_NEWNET) < 0 || getifaddrs(&all) < 0)
                return error_set_errno(error, errno, "Cannot look into the network namespace '%s'", pin);
        for (const struct ifaddrs *interface = all; interface; interface = interface->ifa_next)
                append_address(names, interface);
        freeifaddrs(all);
        return true;
}

/* The first of the file's lines is the id. */
static GString *begin_names(const char *id, char *const *words) {
        const char *machine = find_value(words, MAP_MACHINE), *dns = find_value(words, "--dns-forward");
        GString *names = g_string_new(NULL);

        if (id[0])
                g_string_append_printf(names, "id %s\n", id);
        if (machine)
                g_string_append_printf(names, "gateway %s\n", machine);
        if (dns)
                g_string_append_printf(names, "forwarder %s\n", dns);
        return names;
}

bool pasta_check(const char *unit, GError **error) {
        if (!namespace_name_check(unit, error))
                return false;
        return !namespace_state_is_lost(unit) ||
               error_set(error, KT_ERROR_NOT_FOUND,
                         "The network namespace of '%s' has gone with those of keyturn-view.service: restart the "
                         "containers that are in it",
                         unit);
}

bool pasta_command(const char *unit, GError **error) {
        g_autofree char *text = NULL, *pin = namespace_state_path(unit, STATE_NETNS),
                        *maker = name_ahead_unit("network", unit);
        g_autoptr(GString) names = NULL;
        g_auto(GStrv) lines = NULL;

        if (!namespace_name_check(unit, error) || !namespace_state_read(unit, STATE_PASTA, &text, error))
                return false;
        if (!text || !strchr(text, '\n'))
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "There is no network of '%s' that pasta could be in: start %s", unit, maker);
        lines = g_strsplit(g_strchomp(text), "\n", -1);
        if (!knows_machine(lines[1]))
                forget_machine(lines + 1);
        if (!run(lines + 1, error))
                return false;
        names = begin_names(lines[0], lines + 1);
        return append_addresses(names, pin, error) && namespace_state_write(unit, STATE_NAMES, names->str, error);
}
