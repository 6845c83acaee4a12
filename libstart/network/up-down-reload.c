/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/network/description-renewal.h"
#include "libstart/network/firewall.h"
#include "libstart/network/host-ports.h"
#include "libstart/network/idle.h"
#include "libstart/network/lease-table.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/namespace.h"
#include "libstart/network/netavark.h"
#include "libstart/network/network-files.h"
#include "libstart/network/network-lock.h"
#include "libstart/network/pasta.h"
#include "libstart/network/removal.h"
#include "libstart/network/up-down-reload.h"
#include "libstart/network/user-bridges.h"
#include "libstart/request/network-mode.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/value/names.h"
#include "libstart/value/sysctl.h"

#define PODMAN "/usr/bin/podman"
#define BRIDGES "keyturn-network@" USER_BRIDGES ".service"
#define WAY_OUT "keyturn-pasta@" USER_BRIDGES ".service"

/*
 * Up
 */

typedef struct Plan {
        const UpOptions *options;
        GPtrArray *requests, *attachments;
        GArray *ports;
        GPtrArray *dns; /* of char* */
        GString *sysctls;
        LeaseTable *table;
        const char *pasta; /* "pasta[:OPTION,...]", or NULL */
} Plan;

static void plan_clear(Plan *plan) {
        g_ptr_array_unref(plan->attachments);
        g_ptr_array_unref(plan->requests);
        g_array_unref(plan->ports);
        g_ptr_array_unref(plan->dns);
        g_string_free(plan->sysctls, TRUE);
        g_clear_pointer(&plan->table, lease_table_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Plan, plan_clear)

static bool read_sysctl(Plan *plan, const char *text, GError **error) {
        g_autoptr(Sysctl) sysctl = sysctl_parse(text, error);

        if (!sysctl)
                return false;
        if (sysctl->ns != SYSCTL_NETWORK || strpbrk(text, "\r\n"))
                return error_set(error, KT_ERROR_USAGE,
                                 "--sysctl=%s: only names that begin with net. are a network's", text);
        g_string_append_printf(plan->sysctls, "%s=%s\n", sysctl->name, sysctl->value);
        return true;
}

static bool read_server(Plan *plan, const char *text, GError **error) {
        IpAddress address;

        if (!ip_address_parse(text, &address))
                return error_set(error, KT_ERROR_USAGE, "--dns=%s is no address", text);
        g_ptr_array_add(plan->dns, g_strdup(text));
        return true;
}

static bool read_publish(Plan *plan, const char *text, GError **error) {
        PortMapping port;

        if (!port_mapping_parse(text, &port, error))
                return error_prefix(error, "--publish=%s: ", text);
        g_array_append_val(plan->ports, port);
        return true;
}

static bool read_network(Plan *plan, const char *text, GError **error) {
        if (network_mode_is_pasta(text)) {
                plan->pasta = text;
                if (!user_view_is_here())
                        return error_set(error, KT_ERROR_USAGE, "--network=%s: only users' containers have it", text);
                return !strpbrk(text, "\r\n") || error_set(error, KT_ERROR_USAGE, "--network=%s: it has lines", text);
        }
        if (network_request_parse(text, plan->requests, error))
                return true;
        return error_prefix(error, "--network=%s: ", text);
}

static bool read_each(Plan *plan, char *const *values, bool (*read)(Plan *plan, const char *text, GError **error),
                      GError **error) {
        for (; values && *values; values++)
                if (!read(plan, *values, error))
                        return false;
        return true;
}

/* Nothing of the machine yet. */
static bool read_options(Plan *plan, GError **error) {
        const UpOptions *options = plan->options;

        if (!read_each(plan, options->networks, read_network, error) ||
            !read_each(plan, options->publish, read_publish, error) ||
            !read_each(plan, options->dns, read_server, error) ||
            !read_each(plan, options->sysctls, read_sysctl, error))
                return false;
        if (plan->pasta && plan->requests->len > 0)
                return error_set(error, KT_ERROR_USAGE, "--network=%s is no network that others could be beside",
                                 plan->pasta);
        if (plan->requests->len == 0 && !plan->pasta)
                return error_set(error, KT_ERROR_USAGE, "up needs a --network=NETWORK, or more than one");
        return (!options->container_name || name_check_container(options->container_name, error)) &&
               (!options->hostname || name_check_host(options->hostname, error));
}

/* A fixed one keeps the neighbours' tables right over restarts. It says that it is administered locally, and no
 * group's. */
static char *make_mac(const char *unit, const char *network) {
        g_autofree char *seed = g_strconcat("keyturn mac ", unit, " ", network, NULL);
        g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, seed, -1);
        guint byte[6];

        for (size_t i = 0; i < 6; i++)
                byte[i] = (guint) (g_ascii_xdigit_value(digest[2 * i]) << 4 |
                                   g_ascii_xdigit_value(digest[2 * i + 1]));
        byte[0] = (byte[0] & 0xfc) | 2;
        return g_strdup_printf("%02x:%02x:%02x:%02x:%02x:%02x", byte[0], byte[1], byte[2], byte[3], byte[4], byte[5]);
}

/* Where Podman could give addresses of it, too, each gets its half. */
static void share(const NetworkConf *conf, NetworkDefinition *definition) {
        g_autoptr(GError) problem = NULL;

        if (!user_view_is_here() && access(PODMAN, X_OK) == 0 && network_definition_share(definition) &&
            !network_files_write(conf, definition, &problem))
                log_warning("Podman can give addresses of '%s' that keyturn has given, too: %s", definition->name,
                            problem->message);
}

/* eth0, eth1, ...: the first that nobody has asked for. */
static char *choose_interface(const Plan *plan) {
        for (guint i = 0;; i++) {
                g_autofree char *name = g_strdup_printf("eth%u", i);
                bool taken = false;

                for (guint j = 0; j < plan->requests->len; j++)
                        taken |= g_strcmp0(((NetworkRequest *) plan->requests->pdata[j])->interface_name, name) == 0;
                for (guint j = 0; j < plan->attachments->len; j++)
                        taken |= g_strcmp0(((Attachment *) plan->attachments->pdata[j])->interface_name, name) == 0;
                if (!taken)
                        return g_steal_pointer(&name);
        }
}

static bool check_unlike_others(const Plan *plan, const Attachment *new, GError **error) {
        for (guint i = 0; i < plan->attachments->len; i++) {
                const Attachment *other = plan->attachments->pdata[i];

                if (g_str_equal(other->definition->name, new->definition->name))
                        return error_set(error, KT_ERROR_USAGE, "The network '%s' is there twice",
                                         new->definition->name);
                if (g_str_equal(other->interface_name, new->interface_name))
                        return error_set(error, KT_ERROR_USAGE, "Two interfaces would have the name '%s'",
                                         new->interface_name);
        }
        return true;
}

static bool attach(Plan *plan, const NetworkConf *conf, const char *unit, const NetworkRequest *request,
                   GError **error) {
        NetworkDefinition *definition = network_files_find(conf, request->name ?: conf->default_network, error);
        Attachment *attachment;

        if (!definition)
                return false;
        share(conf, definition);
        attachment = g_new0(Attachment, 1);
        attachment->definition = definition;
        attachment->request = request;
        attachment->addresses = g_array_new(FALSE, FALSE, sizeof(IpAddress));
        attachment->interface_name = request->interface_name ? g_strdup(request->interface_name) :
                                                               choose_interface(plan);
        if (request->mac || !g_str_equal(definition->driver, "ipvlan"))
                attachment->mac = request->mac ? g_strdup(request->mac) : make_mac(unit, definition->name);
        if (!check_unlike_others(plan, attachment, error) || !lease_table_choose(plan->table, attachment, error)) {
                attachment_free(attachment);
                return false;
        }
        g_ptr_array_add(plan->attachments, attachment);
        return true;
}

static bool needs_dns(const Plan *plan) {
        for (guint i = 0; i < plan->attachments->len; i++)
                if (((const Attachment *) plan->attachments->pdata[i])->definition->dns)
                        return true;
        return false;
}

static bool choose(Plan *plan, const NetworkConf *conf, const char *unit, GError **error) {
        plan->table = lease_table_read(unit, error);
        if (!plan->table)
                return false;
        for (guint i = 0; i < plan->requests->len; i++)
                if (!attach(plan, conf, unit, plan->requests->pdata[i], error))
                        return false;
        return ports_settle(plan->ports, plan->table, error) && netavark_check(conf, needs_dns(plan), error);
}

/* Those that the machine asks may be on its loopback, where no namespace comes. */
static void add_users_server(const Plan *plan) {
        char *server = plan->dns->len == 0 && user_view_is_here() ? user_bridges_find_address("forwarder") : NULL;

        if (server)
                g_ptr_array_add(plan->dns, server);
}

/* Written before anything is done. */
static char *write_setup(const Plan *plan, const char *unit, GError **error) {
        const UpOptions *options = plan->options;
        Setup setup = {
                .unit = unit,
                .container_name = options->container_name ?: unit,
                .hostname = options->hostname,
                .attachments = plan->attachments,
                .ports = plan->ports,
                .dns_servers = plan->dns,
        };
        g_autofree char *text = NULL;

        add_users_server(plan);
        text = netavark_format_setup(&setup);
        return namespace_state_make(unit, error) && namespace_state_write(unit, STATE_SETUP, text, error) &&
                               (plan->sysctls->len == 0 ||
                                namespace_state_write(unit, STATE_SYSCTLS, plan->sysctls->str, error)) &&
                               lease_table_remember(plan->table, plan->attachments, error) ?
                       g_steal_pointer(&text) :
                       NULL;
}

/* Half of what a network takes is its rules, which containers without ports share. */
static bool set_up(const Plan *plan, const NetworkConf *conf, const char *unit, const char *pin, const char *setup,
                   char **ret_status, GError **error) {
        if (plan->ports->len == 0 && firewall_is_ready(conf, unit, plan->attachments))
                return netavark_setup_without_rules(conf, pin, setup, ret_status, error);
        return netavark_run(conf, "setup", pin, setup, ret_status, error);
}

/* The bridge is in a namespace, and no way to the machine: pasta is. */
static void name_users_machine(char **names) {
        g_autofree char *machine = user_bridges_find_address("gateway"), *bridges = *names;
        char *line = strstr(bridges, "\ngateway "); /* the last one */

        if (line)
                line[1] = '\0';
        *names = g_strconcat(bridges, machine ? "gateway " : "", machine ?: "", machine ? "\n" : "", NULL);
}

static bool make(const Plan *plan, const NetworkConf *conf, const char *unit, const char *setup, GError **error) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS), *status = NULL, *names = NULL, *whole = NULL;
        g_autoptr(SetupSummary) summary = netavark_parse_setup(setup, strlen(setup), error);

        if (!summary || !namespace_pin(pin, plan->options->userns, error) ||
            !set_up(plan, conf, unit, pin, setup, &status, error) ||
            !namespace_set_sysctls(pin, plan->sysctls->str, error))
                return false;
        names = netavark_format_names(status, strlen(status), summary, error);
        if (!names)
                return false;
        if (user_view_is_here())
                name_users_machine(&names);
        whole = g_strdup_printf("%s%s%s%s", plan->options->id ? "id " : "", plan->options->id ?: "",
                                plan->options->id ? "\n" : "", names);
        return namespace_state_write(unit, STATE_NAMES, whole, error);
}

static bool up(Plan *plan, const NetworkConf *conf, const char *unit, GError **error) {
        g_autofree char *setup = NULL;
        g_autoptr(GError) problem = NULL;

        if (!removal_run(conf, unit, error) || !choose(plan, conf, unit, error))
                return false;
        setup = write_setup(plan, unit, error);
        if (setup && make(plan, conf, unit, setup, error))
                return true;
        if (!removal_run(conf, unit, &problem))
                log_warning("%s", problem->message);
        return false;
}

/* Only its own is touched, and that by one unit: there is nothing to lock. Names are there when pasta is. */
static bool make_for_pasta(Plan *plan, const NetworkConf *conf, const char *unit, GError **error) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS), *words = NULL, *text = NULL;

        if (!ports_settle(plan->ports, NULL, error))
                return false;
        words = pasta_format_words(conf, plan->pasta, plan->ports, pin, error);
        text = g_strconcat(plan->options->id ?: "", "\n", words, NULL);
        return words && namespace_state_make(unit, error) && namespace_state_write(unit, STATE_PASTA, text, error) &&
               namespace_pin(pin, plan->options->userns, error) &&
               namespace_set_sysctls(pin, plan->sysctls->str, error);
}

static bool up_for_pasta(Plan *plan, const NetworkConf *conf, const char *unit, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (!namespace_state_remove(unit, error))
                return false;
        if (make_for_pasta(plan, conf, unit, error))
                return true;
        if (!namespace_state_remove(unit, &problem))
                log_warning("%s", problem->message);
        return false;
}

/* Those of an earlier view are for the processes in it alone, as nobody can enter them from here. And where a
 * container has changed to bridges, its network is restarted alone, without what that requires. The service makes
 * them, not this process: when it is started, it makes them anew, for all who come. */
static bool renew_bridges(GError **error) {
        _cleanup_close_ int bridges = user_bridges_open();

        if (bridges < 0 && !(user_bridges_forget(error) && unit_restart(BRIDGES, error)))
                return false;
        /* Or who was to do it was killed before. */
        if (!namespace_state_has(USER_BRIDGES, STATE_NAMES) && !unit_restart(WAY_OUT, error)) {
                unit_failure_explain(WAY_OUT, error);
                return false;
        }
        if (namespace_state_has(USER_BRIDGES, STATE_NAMES))
                return true;
        error_set(error, KT_ERROR_FAILED, "The user's bridges have no way out, which " WAY_OUT " makes");
        unit_failure_explain(WAY_OUT, error);
        return false;
}

static bool try_up(const char *unit, const UpOptions *options, GError **error) {
        g_auto(NetworkConf) conf = { 0 };
        g_auto(Plan) plan = {
                .options = options,
                .requests = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free),
                .attachments = g_ptr_array_new_with_free_func((GDestroyNotify) attachment_free),
                .ports = g_array_new(FALSE, FALSE, sizeof(PortMapping)),
                .dns = g_ptr_array_new_with_free_func(g_free),
                .sysctls = g_string_new(NULL),
        };

        if (!read_options(&plan, error) || !network_conf_read("", &conf, error))
                return false;
        if (plan.pasta)
                return up_for_pasta(&plan, &conf, unit, error);
        if (!network_lock(error) || (user_view_is_here() && !renew_bridges(error)))
                return false;
        removal_sweep(&conf);
        return up(&plan, &conf, unit, error);
}

bool up_command(const char *unit, const UpOptions *options, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (!namespace_name_check(unit, error))
                return false;
        if (try_up(unit, options, &problem))
                return true;
        network_unlock();
        if ((g_error_matches(problem, KT_ERROR, KT_ERROR_TAKEN) && idle_networks_end(unit)) ||
            (g_error_matches(problem, KT_ERROR, KT_ERROR_NO_NETWORK) && network_describe_again(unit)))
                return try_up(unit, options, error);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

/*
 * Down
 */

/* One that has nothing of netavark's, or nothing any more. */
static bool forget(const char *unit, GError **error) {
        return namespace_state_remove(unit, error) &&
               (!g_str_equal(unit, USER_BRIDGES) || user_bridges_forget(error));
}

bool down_without_view(const char *unit, GError **error) {
        namespace_state_go_outside();
        return namespace_name_check(unit, error) && forget(unit, error);
}

bool down_command(const char *unit, GError **error) {
        g_auto(NetworkConf) conf = { 0 };

        if (!namespace_name_check(unit, error))
                return false;
        if (user_view_is_here() && namespace_state_lacks(unit, STATE_SETUP)) /* it has pasta, and no bridges */
                return forget(unit, error);
        if (!network_conf_read("", &conf, error))
                return false;
        removal_announce(unit);
        if (!network_lock(error))
                return false;
        removal_sweep(&conf);
        return removal_run(&conf, unit, error);
}

/*
 * Reload
 */

/* Where a kill interrupts it, there is no interface, and names stay. So it says what it is at: the next one makes it
 * anew. */
static bool reload(const NetworkConf *conf, const char *unit, GError **error) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS);
        g_autofree char *mark = namespace_state_path(unit, STATE_RELOADING),
                        *maker = name_ahead_unit("network", unit);
        g_autofree char *setup = NULL, *sysctls = NULL;

        if (!namespace_state_read(unit, STATE_SETUP, &setup, error) ||
            !namespace_state_read(unit, STATE_SYSCTLS, &sysctls, error))
                return false;
        if (!setup)
                return error_set(error, KT_ERROR_NOT_FOUND, "There is no network of '%s': start %s", unit, maker);
        if (!namespace_state_write(unit, STATE_RELOADING, "", error))
                return false;
        /* Fails where the rules are gone, and that is why we are here. */
        (void) netavark_run(conf, "teardown", pin, setup, NULL, NULL);
        return netavark_run(conf, "setup", pin, setup, NULL, error) &&
               namespace_set_sysctls(pin, sysctls ?: "", error) &&
               (unlink(mark) == 0 || error_set_errno(error, errno, "Cannot remove '%s'", mark));
}

/* All of them, or those whose reload was killed. */
static bool reload_all(const NetworkConf *conf, bool interrupted, GError **error) {
        g_auto(GStrv) units = namespace_state_list(error);
        bool ok = true;

        for (char **unit = units; unit && *unit; unit++) {
                g_autoptr(GError) problem = NULL;

                if (namespace_state_has(*unit, STATE_PASTA)) /* it has no rules */
                        continue;
                if ((!interrupted || namespace_state_has(*unit, STATE_RELOADING)) && !reload(conf, *unit, &problem)) {
                        log_error("The network of '%s': %s", *unit, problem->message);
                        ok = false;
                }
        }
        if (!units)
                return false;
        return ok || error_set(error, KT_ERROR_FAILED, "Not all networks were made anew");
}

bool reload_command(const char *unit, GError **error) {
        g_auto(NetworkConf) conf = { 0 };
        g_autoptr(GError) problem = NULL;

        if ((unit && !namespace_name_check(unit, error)) || !network_conf_read("", &conf, error) ||
            !network_lock(error))
                return false;
        removal_sweep(&conf);
        if (!unit)
                return reload_all(&conf, false, error);
        /* As with what is left to be removed: this one is made anew, whatever becomes of others. */
        if (!reload_all(&conf, true, &problem))
                log_warning("Of those whose reload was interrupted: %s", problem->message);
        return reload(&conf, unit, error);
}
