/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/network/create-command.h"
#include "libstart/network/lease-table.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/netavark-json.h"
#include "libstart/network/network-files.h"
#include "libstart/network/network-lock.h"
#include "libstart/network/plan-json.h"
#include "libstart/value/names.h"

/* *ret: a namespace that is in it, or NULL. Transfer full. */
static bool find_user(const char *network, char **ret, GError **error) {
        g_auto(GStrv) units = namespace_state_list(error);

        for (char **unit = units; unit && *unit && !*ret; unit++) {
                g_autoptr(SetupSummary) setup = NULL;

                if (!namespace_state_read_summary(*unit, &setup, error))
                        return false;
                for (guint j = 0; setup && j < setup->networks->len && !*ret; j++)
                        if (g_str_equal(((const SummaryNetwork *) setup->networks->pdata[j])->name, network))
                                *ret = g_strdup(*unit);
        }
        return units;
}

static NetworkDefinition *make(const NetworkConf *conf, const CreateOptions *options, GError **error) {
        g_auto(NetworkPlan) plan = {
                .options = options,
                .subnets = g_array_new(FALSE, FALSE, sizeof(NetworkSubnet)),
                .own = g_ptr_array_new_with_free_func(g_free),
        };
        g_autofree char *text = network_plan_make(&plan, conf, error) ? plan_json_print(&plan, error) : NULL;

        return text ? network_definition_parse(text, strlen(text), options->name, error) : NULL;
}

static NetworkDefinition *read_of_user(const char *user, const char *network, GError **error) {
        g_autofree char *setup = NULL;

        if (!namespace_state_read(user, STATE_SETUP, &setup, error))
                return NULL;
        return netavark_parse_definition(setup ?: "", network, error);
}

/* Whoever is in it has been there since before somebody removed its description, as podman network prune does: it is
 * the same network for those who come. */
static bool create(const NetworkConf *conf, const CreateOptions *options, GError **error) {
        g_autoptr(NetworkDefinition) definition = NULL;
        g_autofree char *user = NULL;

        if (!find_user(options->name, &user, error))
                return false;
        definition = user ? read_of_user(user, options->name, error) : make(conf, options, error);
        if (!definition)
                return false;
        (void) network_definition_share(definition);
        return network_files_write(conf, definition, error);
}

bool create_command(const CreateOptions *options, GError **error) {
        g_auto(NetworkConf) conf = { 0 };
        bool is_there;

        if (!options->name)
                return error_set(error, KT_ERROR_USAGE, "create needs --name=NETWORK");
        if (!name_check_network(options->name, error) || !network_conf_read("", &conf, error) ||
            !network_lock(error) || !network_files_has(&conf, options->name, &is_there, error))
                return false;
        return is_there || g_str_equal(options->name, conf.default_network) || create(&conf, options, error);
}

bool delete_command(const char *name, GError **error) {
        g_auto(NetworkConf) conf = { 0 };
        g_autofree char *user = NULL;

        if (!name)
                return error_set(error, KT_ERROR_USAGE, "delete needs --name=NETWORK");
        if (!name_check_network(name, error) || !network_conf_read("", &conf, error) || !network_lock(error))
                return false;
        if (g_str_equal(name, conf.default_network))
                return error_set(error, KT_ERROR_FAILED, "'%s' is the default network, which always is there", name);
        if (!find_user(name, &user, error))
                return false;
        if (user) {
                g_autofree char *unit = name_ahead_unit("network", user);

                return error_set(error, KT_ERROR_FAILED, "The network '%s' is in use: by %s", name, unit);
        }
        if (lease_table_has_podmans(name))
                return error_set(error, KT_ERROR_FAILED, "The network '%s' is in use: by a container of Podman's",
                                 name);
        return network_files_remove(&conf, name, error);
}
