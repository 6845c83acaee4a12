/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>

#include "generator/files/names.h"
#include "generator/network/network-unit.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/pasta.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/key.h"
#include "generator/unit/own-name.h"
#include "generator/unit/specifiers.h"
#include "keyturn-config.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/value/capability.h"
#include "libstart/value/unit-words.h"

/* What all of a user's bridges lie in, and its way out. */
#define BRIDGES                                       \
        "Requires=keyturn-network@.bridges.service\n" \
        "Wants=keyturn-pasta@.bridges.service\n"      \
        "After=keyturn-network@.bridges.service keyturn-pasta@.bridges.service\n"

#define PROGRAM KEYTURN_LIBDIR "/keyturn-network"
#define DROPIN "50-keyturn-generator.conf"

static void add_option(GString *command, const char *option, const char *value, const OwnName *own) {
        g_autofree char *replaced = value ? own_name_replace(value, own) : NULL;

        unit_words_add_option(command, option, replaced);
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
static void keep_for_host(Conversion *container, GString *command, const OwnName *own) {
        const guint64 ports = G_GUINT64_CONSTANT(1) << CAP_NET_BIND_SERVICE;
        const LaunchArgs *args = container->args;

        if (args->privileged == FLAG_TRUE || network_capabilities(args->cap_add) & CAPABILITY_NETWORK)
                conversion_problem(
                        container, conversion_line(container, container->section, "AddCapability"),
                        "NET_ADMIN and NET_RAW have no effect on a bridge from within the user namespace of an "
                        "instance, or of specifiers and variables: remove them, or UserNS= and its like, or write a "
                        "file without these");
        if (!(network_capabilities(args->cap_drop) & ports))
                add_option(command, "--sysctl", "net.ipv4.ip_unprivileged_port_start=0", own);
}

/* Whoever is root in the container is master of its network, as with Podman. */
static void add_user_namespace(Conversion *container, GString *command, const OwnName *own) {
        g_autofree char *path = user_namespace_of_network(container);

        add_option(command, "--userns", path, own);
        add_option(command, "--sysctl",
                   path ? "net.ipv4.ping_group_range=0 0" : "net.ipv4.ping_group_range=0 2147483647", own);
        if (!path)
                keep_for_host(container, command, own);
}

/* All of a user's have one, below that of her view. */
static bool has_own_namespace(const Conversion *container) {
        return container->is_users || user_namespace_may_be_own(container->args);
}

/* Of the network's, which so are no longer the container's. Everyone in a container may ping, as with Podman. */
static void take_sysctls(Conversion *container, GString *command, const OwnName *own) {
        GPtrArray *sysctls = container->args->sysctls;

        if (has_own_namespace(container))
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

static GString *make_command(Conversion *container, const OwnName *own) {
        const LaunchArgs *args = container->args;
        GString *command = g_string_new(PROGRAM " up");

        unit_words_add(command, own->full);
        add_option(command, "--container-name", args->name, own);
        add_option(command, "--hostname", args->hostname, own);
        add_noted(command, "--network", container->network.made, own);
        add_noted(command, "--publish", container->network.published, own);
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

/* key: with what comes before the program. */
static void add_step(GString *text, const char *key, const char *command, const OwnName *own) {
        g_string_append_printf(text, "%s" PROGRAM " %s", key, command);
        unit_words_add(text, own->full);
        g_string_append_c(text, '\n');
}

static void add_stop(GString *text, const OwnName *own) {
        add_step(text, "ExecStopPost=-", "down", own);
        add_step(text, "ExecStopPost=", "down", own);
}

/* What the shipped template has besides. Users have no firewall that is to be followed. */
static void add_others(const Conversion *container, GString *text, const OwnName *own) {
        if (!container->is_users)
                add_step(text, "ExecReload=", "reload", own);
        add_stop(text, own);
}

/* After a change of the file, the next start of the container sees by this that the network is another one. Transfer
 * full. */
static char *make_id(const GString *command, const GString *environment) {
        g_autofree char *all = g_strconcat(command->str, "\n", environment->str, NULL);
        g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);

        return g_strndup(digest, 16);
}

/* The namespace that it is to belong to. */
static void add_owner(const Conversion *container, GString *text) {
        const char *mode = container->args->userns;
        g_autofree char *service = user_namespace_service(container);

        if (mode && g_str_has_prefix(mode, "ns:" PATH_POD "/")) { /* its pod's, which has another network */
                g_autofree char *pod = g_path_get_dirname(mode), *stem = g_path_get_basename(pod);

                g_string_append_printf(text, "Wants=%s.service\nAfter=%s.service\n", stem, stem);
        } else if (service)
                g_string_append_printf(text, "Wants=%s\nAfter=%s\n", service, service);
}

static void add_unit(const Conversion *container, const OwnName *own, GString *text) {
        g_autofree char *source = specifiers_escape(container->source->path, "%");

        g_string_append_printf(text, "[Unit]\nDescription=Network of %s.service\nSourcePath=%s\n", own->full, source);
        for (guint i = 0; i < container->network.services->len; i++) {
                g_autofree char *service = own_name_replace(container->network.services->pdata[i], own);

                g_string_append_printf(text, "Requires=%s\nAfter=%s\n", service, service);
        }
        add_owner(container, text);
        if (pasta_is_beside(container))
                g_string_append(text, BRIDGES);
        /* Firewalls begin with flushing all rules. firewalld comes too late for what is to be there before
         * basic.target. */
        if (!container->is_users)
                g_string_append(text, container->is_early ?
                                              "After=nftables.service\n" :
                                              "After=network-pre.target nftables.service firewalld.service\n");
        /* A pod's is made anew with its pod, whose containers do not look whether it has changed. So is one whose
         * payload may change it: what that leaves must not meet its next start. */
        if (network_is_renewed(container))
                g_string_append_printf(text, "PartOf=%s.service\n", own->full);
}

static GString *make_text(Conversion *container, const OwnName *own) {
        g_autoptr(GString) command = make_command(container, own), environment = g_string_new(NULL);
        GString *text = g_string_new("# Made by keyturn-generator from ");

        copy_environment(container->service, command->str, environment);
        container->args->network_id = make_id(command, environment);
        add_option(command, "--id", container->args->network_id, own);
        g_string_append_printf(text, "%s\n\n", container->source->path);
        add_unit(container, own, text);
        g_string_append_printf(text, "\n[Service]\n%sExecStart=\nExecStart=%s\n", environment->str, command->str);
        if (own_name_has_instance(own))
                add_others(container, text, own);
        return text;
}

void network_unit_finish(Conversion *container) {
        g_autofree char *network = NULL, *owner = NULL;
        g_auto(OwnName) own = { 0 };

        if (container->network.made->len == 0)
                return;
        own_name_find(container->service->name, &own);
        container->network.unit = own_name_unit(&own, "network");
        container->network.file = own_name_file(&own, "network", DROPIN);
        container->network.text = make_text(container, &own);
        owner = has_own_namespace(container) ? user_namespace_of_network(container) : NULL;
        network = g_strconcat(owner ? "owned:" : "pinned:", own.full, NULL);
        (void) key_set_option(container, "network", network, NULL);
}

/* What a user's network has besides: "pasta", its way out, or "ports", the way in to a bridge. NULL: nothing. */
static const char *find_way(const Conversion *container) {
        return pasta_is_of(container)                                              ? "pasta" :
               pasta_is_beside(container) && container->network.published->len > 0 ? "ports" :
                                                                                     NULL;
}

/* It may come and go while the container runs, whose network is the same. */
static void depend_on_way(Conversion *container) {
        const char *way = find_way(container);
        g_auto(OwnName) own = { 0 };
        g_autofree char *unit = NULL;

        if (!way)
                return;
        own_name_find(container->service->name, &own);
        unit = own_name_unit(&own, way);
        service_unit(container->service, "Wants", unit);
        service_unit(container->service, "After", unit);
}

/* Of an instance it has a unit of its own, whose rest is shipped. */
static void write_way(const Conversion *container, Writer *writer) {
        const char *way = find_way(container);
        bool is_pasta = g_strcmp0(way, "pasta") == 0;
        g_autofree char *source = specifiers_escape(container->source->path, "%"), *file = NULL;
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\n");
        g_auto(OwnName) own = { 0 };

        own_name_find(container->service->name, &own);
        if (!way || !own_name_has_instance(&own))
                return;
        g_string_append_printf(text, "Description=%s of %s.service\nSourcePath=%s\n",
                               is_pasta ? "Way Out of the Network" : "Published Ports", own.full, source);
        g_string_append_printf(text, "Requires=%s\nPartOf=%s\nAfter=%s\n\n[Service]\n", container->network.unit,
                               container->network.unit, container->network.unit);
        if (is_pasta)
                add_step(text, "ExecCondition=", "pasta --check", &own);
        add_step(text, "ExecStart=", way, &own);
        file = own_name_file(&own, way, DROPIN);
        writer_put_file(writer, container->source->path, file, container->source->unit->readers, text);
}

/* Not Requires=: a start that fails because of that is none that Restart= tries again. libstart says that the network
 * is not there, and so a refused file says why, whatever becomes of its network. */
void network_unit_depend(Conversion *container) {
        if (!container->network.unit)
                return;
        service_unit(container->service, "Wants", container->network.unit);
        service_unit(container->service, "PartOf", container->network.unit);
        service_unit(container->service, "After", container->network.unit);
        depend_on_way(container);
}

/* A start that follows its stop finds the network as a restart does. Not where each start has it made anew, and not
 * of a user's: its ports are a process's. */
static void stay_for_a_moment(Conversion *container) {
        g_autofree char *stem = NULL, *unit = NULL;

        if (container->is_users || network_is_renewed(container))
                return;
        stem = g_strndup(container->network.unit, strlen(container->network.unit) - strlen(".service"));
        unit = g_strconcat("keyturn-idle@", stem, ".service", NULL);
        service_unit(container->service, "OnSuccess", unit);
}

/* Into and out of a user's network: processes. */
static const char *const ways[] = { "pasta", "ports" };

void network_unit_assume(Conversion *container) {
        g_auto(OwnName) own = { 0 };
        const char *name = container->source->name;

        if (!g_str_has_suffix(name, ".container") && !g_str_has_suffix(name, ".pod"))
                return;
        own_name_find(container->service->name, &own);
        container->network.unit = own_name_unit(&own, "network");
        for (size_t i = 0; i < G_N_ELEMENTS(ways) && container->is_users; i++) {
                g_autofree char *way = own_name_unit(&own, ways[i]);

                service_unit(container->service, "Wants", way);
        }
}

/* lines: of [Unit]; steps: of [Service]. */
static void write_gone(const OwnName *own, const char *kind, const char *lines, const char *steps, Writer *writer) {
        g_autofree char *file = own_name_file(own, kind, NULL);
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\n");

        g_string_append_printf(text,
                               "Description=Network of %s.service: %s (no file asks for it any more)\n%s"
                               "ConditionPathExists=!/\n\n[Service]\nExecStart=/bin/true\n%s",
                               own->full, kind, lines, steps);
        writer_put_file(writer, PATH_NETWORK, file, READERS_ALL, text);
}

void network_unit_write_gone(const char *template, bool is_users, Writer *writer) {
        g_auto(OwnName) own = { 0 };
        g_autofree char *network = NULL, *part = NULL;
        g_autoptr(GString) stop = g_string_new(NULL);

        own_name_find(template, &own);
        network = own_name_unit(&own, "network");
        part = g_strdup_printf("PartOf=%s\nAfter=%s\n", network, network);
        add_stop(stop, &own);
        write_gone(&own, "network", "", stop->str, writer);
        for (size_t i = 0; i < G_N_ELEMENTS(ways) && is_users; i++)
                write_gone(&own, ways[i], part, "", writer);
}

/* lines: of [Unit]. */
static void write_kept(const OwnName *own, const char *kind, const char *lines, Writer *writer) {
        g_autofree char *unit = own_name_unit(own, kind), *file = g_strconcat(unit, ".d/" RUNNING_DROPIN, NULL);
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\n");

        g_string_append_printf(text, "StopWhenUnneeded=no\nIgnoreOnIsolate=yes\n%s", lines);
        writer_put_file(writer, PATH_NETWORK, file, READERS_ALL, text);
}

/* StopPropagatedFrom= is for stops alone, by systemd 252. With a restart PartOf= would start the network again, and
 * Conflicts= stops it with each start of what runs already. */
static void stop_after(const OwnName *own, bool is_users, Writer *writer) {
        g_autofree char *network = own_name_unit(own, "network"),
                        *file = g_strconcat(own->full, ".service.d/" RUNNING_DROPIN, NULL);
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Service]\nExecStopPost=-+");

        g_string_append_printf(text, "systemctl %s--no-block stop", is_users ? "--user " : "");
        unit_words_add(text, network);
        g_string_append_c(text, '\n');
        writer_put_file(writer, PATH_NETWORK, file, READERS_ALL, text);
}

void network_unit_keep(const char *service, const char *asking, const char *needs, bool is_users, Writer *writer) {
        g_auto(OwnName) own = { 0 }, made = { 0 };
        g_autofree char *file = NULL, *lines = NULL;

        if (asking)
                own_name_find(asking, &made);
        file = asking ? own_name_file(&made, "network", DROPIN) : NULL;
        if (file && writer_has(writer, file))
                return;
        own_name_find(service, &own);
        /* Without `asking` systemd reads no drop-in of the service, and starts it no more. */
        lines = g_strdup_printf("%sBefore=%s.service\n%s=%s.service\n", needs, own.full,
                                asking ? "StopPropagatedFrom" : "BindsTo", own.full);
        write_kept(&own, "network", lines, writer);
        for (size_t i = 0; i < G_N_ELEMENTS(ways) && is_users; i++) /* each is PartOf= that */
                write_kept(&own, ways[i], "", writer);
        stop_after(&own, is_users, writer);
}

/* The line that asks for a network, or NULL. */
static const UnitLine *find_asking_line(const Conversion *container) {
        const GArray *const lists[] = { container->network.made, container->network.published,
                                        container->network.wishes };
        const UnitLine *line = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(lists) && !line; i++)
                line = lists[i]->len > 0 ? g_array_index(lists[i], Noted, 0).line : NULL;
        return line;
}

/* Where Podman looks for it. Where helper_binaries_dir says others, only keyturn-network does. */
static bool is_there(const Tree *tree, const char *path) {
        _cleanup_close_ int fd = tree_open_path(tree, path, O_PATH);

        return fd >= 0;
}

static bool has_helper(const Tree *tree, const char *name) {
        static const char *const directories[] = { "/usr/local/libexec/podman", "/usr/local/lib/podman",
                                                   "/usr/libexec/podman", "/usr/lib/podman" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], name, NULL);

                if (is_there(tree, path))
                        return true;
        }
        return false;
}

static bool has_pasta(const Tree *tree) {
        return has_helper(tree, "pasta") || is_there(tree, "/usr/bin/pasta");
}

void network_unit_check(Conversion *container, const Tree *tree, MachineConf *conf) {
        bool is_pasta = pasta_is_of(container) || (pasta_is_beside(container) && !has_pasta(tree));

        if (container->is_refused || !container->network.file || machine_conf_has_helpers(conf) ||
            (is_pasta ? has_pasta(tree) : has_helper(tree, "netavark")))
                return;
        conversion_problem(container, find_asking_line(container),
                           is_pasta ?
                                   "pasta makes this network, and is not installed: install the package passt, or "
                                   "write Network=host" :
                                   "netavark makes bridges, and is not installed: install the package netavark (and "
                                   "aardvark-dns, for names), or write Network=host");
}

void network_unit_write(Conversion *container, Writer *writer) {
        if (!container->network.file)
                return;
        network_unit_depend(container);
        stay_for_a_moment(container);
        writer_put_file(writer, container->source->path, container->network.file, container->source->unit->readers,
                        container->network.text);
        write_way(container, writer);
}
