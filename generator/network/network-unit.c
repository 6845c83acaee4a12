/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>

#include "generator/files/names.h"
#include "generator/network/network-unit.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/key.h"
#include "generator/unit/source-path.h"
#include "keyturn-config.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/value/capability.h"
#include "libstart/value/unit-words.h"

#define PROGRAM KEYTURN_LIBDIR "/keyturn-network"

/* The container's service as the unit sees it that makes the network: in a template %i is the same in both. */
typedef struct OwnName {
        char *full;     /* "foo@%i": %N in the container's unit */
        char *prefix;   /* "foo": %p */
        char *instance; /* "bar" of "foo@bar"; "%i" in a template */
} OwnName;

static void own_name_clear(OwnName *name) {
        g_free(name->full);
        g_free(name->prefix);
        g_free(name->instance);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OwnName, own_name_clear)

static void find_own_name(const char *service, OwnName *ret) {
        g_autofree char *stem = g_strndup(service, strlen(service) - strlen(".service"));

        ret->prefix = g_strndup(stem, strcspn(stem, "@"));
        ret->full = g_strconcat(stem, g_str_has_suffix(stem, "@") ? "%i" : "", NULL);
        ret->instance = g_strdup(strchr(ret->full, '@') ? strchr(ret->full, '@') + 1 : "");
}

/* What a specifier of the container's name stands for; NULL for others, which are the same in both units. Of an
 * instance that is known, %I is that with '/' for '-'. Transfer full. */
static char *find_own(char letter, const OwnName *own) {
        const char *dash = strrchr(own->prefix, '-');

        switch (letter) {
        case 'N':
                return g_strdup(own->full);
        case 'n':
                return g_strconcat(own->full, ".service", NULL);
        case 'p':
                return g_strdup(own->prefix);
        case 'j':
                return g_strdup(dash ? dash + 1 : own->prefix);
        case 'i':
                return g_strdup(own->instance);
        case 'I':
                return g_str_equal(own->instance, "%i") ? NULL : g_strdelimit(g_strdup(own->instance), "-", '/');
        default:
                return NULL;
        }
}

/* In the unit that makes the network they would mean that one. Transfer full. */
static char *replace_own(const char *text, const OwnName *own) {
        GString *result = g_string_new(NULL);

        for (const char *c = text; *c; c++) {
                g_autofree char *found = *c == '%' ? find_own(c[1], own) : NULL;

                if (found)
                        g_string_append(result, found);
                else
                        g_string_append_len(result, c, *c == '%' && c[1] ? 2 : 1);
                c += *c == '%' && c[1];
        }
        return g_string_free(result, FALSE);
}

char *network_unit_replace_own(const char *text, const char *service) {
        g_auto(OwnName) own = { 0 };

        find_own_name(service, &own);
        return replace_own(text, &own);
}

static void add_word(GString *command, const char *word, const OwnName *own) {
        g_autofree char *replaced = replace_own(word, own);

        unit_words_add(command, replaced);
}

static void add_option(GString *command, const char *option, const char *value, const OwnName *own) {
        if (!value)
                return;
        unit_words_add(command, option);
        add_word(command, value, own);
}

static void add_noted(GString *command, const char *option, const GArray *values, const OwnName *own) {
        for (guint i = 0; i < values->len; i++)
                add_option(command, option, g_array_index(values, Noted, i).text, own);
}

/* Each may be several with commas between. */
static void add_servers(GString *command, const GPtrArray *dns, const OwnName *own) {
        for (guint i = 0; i < dns->len; i++) {
                g_auto(GStrv) servers = g_strsplit(dns->pdata[i], ",", -1);

                for (char **server = servers; *server; server++)
                        if (**server && !g_str_equal(*server, "none"))
                                add_option(command, "--dns", *server, own);
        }
}

/* Only systemd knows what its ids depend on, at its start: so the network belongs to the host's user namespace. A
 * payload's capabilities count for nothing in it: it must be said what they would be for. */
static void keep_for_host(Container *container, GString *command, const OwnName *own) {
        const guint64 ports = G_GUINT64_CONSTANT(1) << CAP_NET_BIND_SERVICE;
        const LaunchArgs *args = container->args;

        if (args->privileged == FLAG_TRUE || network_capabilities(args->cap_add) & CAPABILITY_NETWORK)
                container_problem(
                        container, container_line(container, container->section, "AddCapability"),
                        "NET_ADMIN and NET_RAW have no effect on a bridge from within the user namespace of an instance, or "
                        "of specifiers and variables: remove them, or UserNS= and its like, or write a file without these");
        if (!(network_capabilities(args->cap_drop) & ports))
                add_option(command, "--sysctl", "net.ipv4.ip_unprivileged_port_start=0", own);
}

/* Whoever is root in the container is master of its network, as with Podman. */
static void add_user_namespace(Container *container, GString *command, const OwnName *own) {
        g_autofree char *path = user_namespace_of_network(container);

        add_option(command, "--userns", path, own);
        add_option(command, "--sysctl",
                   path ? "net.ipv4.ping_group_range=0 0" : "net.ipv4.ping_group_range=0 2147483647", own);
        if (!path)
                keep_for_host(container, command, own);
}

/* Of the network's, which so are no longer the container's. Everyone in a container may ping, as with Podman. */
static void take_sysctls(Container *container, GString *command, const OwnName *own) {
        GPtrArray *sysctls = container->args->sysctls;

        if (user_namespace_may_be_own(container->args))
                add_user_namespace(container, command, own);
        else
                add_option(command, "--sysctl", "net.ipv4.ping_group_range=0 0", own);
        for (guint i = 0; i < sysctls->len;) {
                if (!g_str_has_prefix(sysctls->pdata[i], "net.")) {
                        i++;
                        continue;
                }
                add_option(command, "--sysctl", sysctls->pdata[i], own);
                g_ptr_array_remove_index(sysctls, i);
        }
}

static GString *make_command(Container *container, const OwnName *own) {
        const LaunchArgs *args = container->args;
        GString *command = g_string_new(PROGRAM " up");

        unit_words_add(command, own->full);
        add_option(command, "--container-name", args->name, own);
        add_option(command, "--hostname", args->hostname, own);
        add_noted(command, "--network", container->networks, own);
        add_noted(command, "--publish", container->published, own);
        add_servers(command, args->dns, own);
        take_sysctls(container, command, own);
        return command;
}

/* What gives systemd's variables their values, if there are any in the command. */
static void copy_environment(const Service *service, const char *command, GString *text) {
        static const char *const keys[] = { "Environment", "EnvironmentFile", "PassEnvironment", "UnsetEnvironment",
                                            NULL };
        const UnitSection *section = service->user_service;

        for (guint i = 0; section && strchr(command, '$') && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && g_strv_contains(keys, line->key))
                        g_string_append_printf(text, "%s\n", line->text);
        }
}

/* What the shipped template has besides. */
static void add_others(GString *text, const OwnName *own) {
        static const char *const others[] = { "ExecReload=" PROGRAM " reload", "ExecStopPost=-" PROGRAM " down",
                                              "ExecStopPost=" PROGRAM " down" };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
                g_string_append(text, others[i]);
                unit_words_add(text, own->full);
                g_string_append_c(text, '\n');
        }
}

/* After a change of the file, the next start of the container sees by this that the network is another one. Transfer
 * full. */
static char *make_id(const GString *command, const GString *environment) {
        g_autofree char *all = g_strconcat(command->str, "\n", environment->str, NULL);
        g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);

        return g_strndup(digest, 16);
}

/* The namespace that it is to belong to. */
static void add_owner(const Container *container, GString *text) {
        const char *mode = container->args->userns;
        g_autofree char *service = user_namespace_service(container);

        if (mode && g_str_has_prefix(mode, "ns:" PATH_POD "/")) { /* its pod's, which has another network */
                g_autofree char *pod = g_path_get_dirname(mode), *stem = g_path_get_basename(pod);

                g_string_append_printf(text, "Wants=%s.service\nAfter=%s.service\n", stem, stem);
        } else if (service)
                g_string_append_printf(text, "Wants=%s\nAfter=%s\n", service, service);
}

static void add_unit(const Container *container, const OwnName *own, GString *text) {
        g_autofree char *source = source_path_escape(container->source->path, "%");

        g_string_append_printf(text, "[Unit]\nDescription=Network of %s.service\nSourcePath=%s\n", own->full, source);
        for (guint i = 0; i < container->network_services->len; i++) {
                g_autofree char *service = replace_own(container->network_services->pdata[i], own);

                g_string_append_printf(text, "Requires=%s\nAfter=%s\n", service, service);
        }
        add_owner(container, text);
        /* Firewalls begin with flushing all rules. firewalld comes too late for what is to be there before
         * basic.target. */
        g_string_append(text, container->is_early ? "After=nftables.service\n" :
                                                    "After=network-pre.target nftables.service firewalld.service\n");
        /* A pod's is made anew with its pod, whose containers do not look whether it has changed. So is one whose
         * payload may change it: what that leaves must not meet its next start. */
        if (network_is_renewed(container))
                g_string_append_printf(text, "PartOf=%s.service\n", own->full);
}

static GString *make_text(Container *container, const OwnName *own) {
        g_autoptr(GString) command = make_command(container, own), environment = g_string_new(NULL);
        GString *text = g_string_new("# Made by keyturn-generator from ");

        copy_environment(container->service, command->str, environment);
        container->args->network_id = make_id(command, environment);
        add_option(command, "--id", container->args->network_id, own);
        g_string_append_printf(text, "%s\n\n", container->source->path);
        add_unit(container, own, text);
        g_string_append_printf(text, "\n[Service]\n%sExecStart=\nExecStart=%s\n", environment->str, command->str);
        if (strchr(own->full, '@'))
                add_others(text, own);
        return text;
}

/* systemd's name of the unit, and the file that says what it is to make: a drop-in of the shipped template, or for
 * what is a template, or an instance of one, a unit of its own. */
static void find_unit(const OwnName *own, char **ret_unit, char **ret_file) {
        const char *instance = strchr(own->full, '@');

        if (!instance) {
                *ret_unit = g_strdup_printf("keyturn-network@%s.service", own->full);
                *ret_file = g_strdup_printf("%s.d/50-keyturn-generator.conf", *ret_unit);
                return;
        }
        *ret_unit = g_strdup_printf("keyturn-network-%s.service", own->full);
        *ret_file = g_strdup_printf("keyturn-network-%s%s.service", own->prefix,
                                    g_str_equal(instance, "@%i") ? "@" : instance);
}

void network_unit_finish(Container *container) {
        g_autofree char *network = NULL, *owner = NULL;
        g_auto(OwnName) own = { 0 };

        if (container->networks->len == 0)
                return;
        find_own_name(container->service->name, &own);
        find_unit(&own, &container->network_unit, &container->network_file);
        container->network_text = make_text(container, &own);
        owner = user_namespace_may_be_own(container->args) ? user_namespace_of_network(container) : NULL;
        network = g_strconcat(owner ? "owned:" : "pinned:", own.full, NULL);
        (void) key_set_option(container, "network", network, NULL);
}

/* Not Requires=: a start that fails because of that is none that Restart= tries again. libstart says that the network
 * is not there, and so a refused file says why, whatever becomes of its network. */
void network_unit_depend(Container *container) {
        if (!container->network_unit)
                return;
        service_unit(container->service, "Wants", container->network_unit);
        service_unit(container->service, "PartOf", container->network_unit);
        service_unit(container->service, "After", container->network_unit);
}

void network_unit_assume(Container *container) {
        g_auto(OwnName) own = { 0 };
        g_autofree char *file = NULL;
        const char *name = container->source->name;

        if (!g_str_has_suffix(name, ".container") && !g_str_has_suffix(name, ".pod"))
                return;
        find_own_name(container->service->name, &own);
        find_unit(&own, &container->network_unit, &file);
}

/* The line that asks for a network, or NULL. */
static const UnitLine *find_asking_line(const Container *container) {
        const GArray *const lists[] = { container->networks, container->published, container->network_wishes };
        const UnitLine *line = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(lists) && !line; i++)
                line = lists[i]->len > 0 ? g_array_index(lists[i], Noted, 0).line : NULL;
        return line;
}

/* Where Podman looks for it. Where helper_binaries_dir says others, only keyturn-network does. */
static bool has_netavark(const Tree *tree) {
        static const char *const paths[] = {
                "/usr/local/libexec/podman/netavark",
                "/usr/local/lib/podman/netavark",
                "/usr/libexec/podman/netavark",
                "/usr/lib/podman/netavark",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                _cleanup_close_ int fd = tree_open_path(tree, paths[i], O_PATH);

                if (fd >= 0)
                        return true;
        }
        return false;
}

void network_unit_check(Container *container, const Tree *tree, MachineConf *conf) {
        if (!container->is_refused && container->network_file && !has_netavark(tree) &&
            !machine_conf_has_helpers(conf))
                container_problem(container, find_asking_line(container),
                                  "netavark makes bridges, and is not installed: install the package netavark (and "
                                  "aardvark-dns, for names), or write Network=host");
}

void network_unit_write(Container *container, Writer *writer) {
        if (!container->network_file)
                return;
        network_unit_depend(container);
        writer_put_file(writer, container->source->path, container->network_file, container->source->unit->readers,
                        container->network_text);
}
