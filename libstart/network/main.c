/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/base/program.h"
#include "libstart/base/user-view.h"
#include "libstart/network/create-command.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/pasta.h"
#include "libstart/network/up-down-reload.h"
#include "libstart/network/user-ports.h"
#include "libstart/systemd/unit-failure.h"

/* keyturn-network: makes networks and network namespaces, ahead of the containers. See keyturn-network(8). */

static CreateOptions arg_create;
static UpOptions arg_up;
static gboolean arg_check;

static const GOptionEntry no_entries[] = { { 0 } };

static const GOptionEntry name_entries[] = {
        { "name", 0, 0, G_OPTION_ARG_STRING, &arg_create.name, "The network's name", "NETWORK" },
        { 0 },
};

static const GOptionEntry create_entries[] = {
        { "name", 0, 0, G_OPTION_ARG_STRING, &arg_create.name, "The network's name", "NETWORK" },
        { "driver", 0, 0, G_OPTION_ARG_STRING, &arg_create.driver, "bridge, macvlan or ipvlan", "DRIVER" },
        { "subnet", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.subnets, "Its addresses", "SUBNET" },
        { "gateway", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.gateways, "The way out of a subnet", "ADDRESS" },
        { "ip-range", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.ranges, "Which ones containers get", "RANGE" },
        { "route", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.routes, "A further way", "SUBNET,GATEWAY[,METRIC]" },
        { "internal", 0, 0, G_OPTION_ARG_NONE, &arg_create.internal, "No way out", NULL },
        { "ipv6", 0, 0, G_OPTION_ARG_NONE, &arg_create.ipv6, "IPv6, too", NULL },
        { "disable-dns", 0, 0, G_OPTION_ARG_NONE, &arg_create.disable_dns, "Containers have no names", NULL },
        { "dns", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.dns, "A server for other names", "ADDRESS" },
        { "interface-name", 0, 0, G_OPTION_ARG_STRING, &arg_create.interface_name, "The machine's interface",
          "NAME" },
        { "ipam-driver", 0, 0, G_OPTION_ARG_STRING, &arg_create.ipam_driver, "host-local, dhcp or none", "DRIVER" },
        { "label", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.labels, "A label", "NAME=VALUE" },
        { "option", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_create.options, "An option of the driver", "NAME=VALUE" },
        { "opt", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING_ARRAY, &arg_create.options, NULL, NULL },
        { 0 },
};

static const GOptionEntry up_entries[] = {
        { "network", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_up.networks, "A network to be in",
          "NETWORK[:OPTION,...]" },
        { "publish", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_up.publish, "A port of the machine",
          "[[IP:]PORT:]PORT[/tcp]" },
        { "container-name", 0, 0, G_OPTION_ARG_STRING, &arg_up.container_name, "What others find it by", "NAME" },
        { "hostname", 0, 0, G_OPTION_ARG_STRING, &arg_up.hostname, "What it calls itself", "NAME" },
        { "id", 0, 0, G_OPTION_ARG_STRING, &arg_up.id, "What a start is to find it by", "ID" },
        { "userns", 0, 0, G_OPTION_ARG_FILENAME, &arg_up.userns, "The user namespace it belongs to", "PATH" },
        { "dns", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_up.dns, "A server for other names", "ADDRESS" },
        { "sysctl", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arg_up.sysctls, "A kernel parameter in it", "net.NAME=VALUE" },
        { 0 },
};

static const GOptionEntry pasta_entries[] = {
        { "check", 0, 0, G_OPTION_ARG_NONE, &arg_check, "Fail where its namespace has gone, and do nothing else",
          NULL },
        { 0 },
};

static bool run_pasta(const char *unit, GError **error) {
        return arg_check ? pasta_check(unit, error) : pasta_command(unit, error);
}

static bool run_create(const char *word, GError **error) {
        return create_command(&arg_create, error);
}

static bool run_delete(const char *word, GError **error) {
        return delete_command(arg_create.name, error);
}

static bool run_up(const char *unit, GError **error) {
        return up_command(unit, &arg_up, error);
}

static const struct Command {
        const char *name;
        bool needs_unit, takes_unit;
        const GOptionEntry *entries;
        bool (*run)(const char *unit, GError **error);
        const char *summary;
} commands[] = {
        { "create", false, false, create_entries, run_create, "Describe a network, if it is not there" },
        { "delete", false, false, name_entries, run_delete, "Forget a network that nobody is in" },
        { "up", true, true, up_entries, run_up, "Make the network namespace of a container" },
        { "down", true, true, no_entries, down_command, "Remove it" },
        { "pasta", true, true, pasta_entries, run_pasta, "Run pasta(1) in one of a user's" },
        { "ports", true, true, no_entries, ports_command, "Carry what comes to published ports of a user's" },
        { "reload", false, true, no_entries, reload_command, "Make interfaces and rules anew, of one or of all" },
};

static void help(void) {
        puts("keyturn-network create|delete --name=NETWORK [OPTION...]\n"
             "keyturn-network up|down|pasta|ports|reload [NAME] [OPTION...]\n"
             "\n"
             "Make networks, and network namespaces of containers.\n");
        for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
                printf("  %-8s %s\n", commands[i].name, commands[i].summary);
        puts("\n'keyturn-network COMMAND --help' shows the options. See keyturn-network(8).");
}

static const struct Command *find_command(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
                if (g_str_equal(commands[i].name, name))
                        return &commands[i];
        return NULL;
}

static bool run(int argc, char **argv, GError **error) {
        const struct Command *command = argc > 1 ? find_command(argv[1]) : NULL;
        g_autoptr(GOptionContext) context = g_option_context_new(command && command->takes_unit ? "NAME" : NULL);
        int n = argc - 1;

        if (!command)
                return error_set(error, KT_ERROR_USAGE, "%s%s%s; see keyturn-network --help",
                                 argc > 1 ? "There is no command '" : "A command is missing", argc > 1 ? argv[1] : "",
                                 argc > 1 ? "'" : "");
        argv++;
        g_option_context_add_main_entries(context, command->entries, NULL);
        g_option_context_set_summary(context, command->summary);
        if (!g_option_context_parse(context, &n, &argv, error))
                return false;
        if (n > (command->takes_unit ? 2 : 1))
                return error_set(error, KT_ERROR_USAGE, "'%s' is too much: %s takes %s", argv[n - 1], command->name,
                                 command->takes_unit ? "one name" : "options only");
        if (command->needs_unit && n < 2)
                return error_set(error, KT_ERROR_USAGE, "%s needs the name of a unit, without .service",
                                 command->name);
        return command->run(n > 1 ? argv[1] : NULL, error);
}

/* What brings it back is a restart of the container. */
static bool stays_gone(const char *command, const char *unit) {
        return (g_str_equal(command, "pasta") && namespace_state_is_lost(unit)) ||
               (g_str_equal(command, "ports") &&
                (namespace_state_is_lost(unit) || namespace_state_is_lost(USER_BRIDGES)));
}

/* Where there is no view. */
static bool down_anyway(int argc, char **argv, GError **error) {
        if (argc != 3 || !g_str_equal(argv[1], "down") || !g_error_matches(*error, KT_ERROR, KT_ERROR_NOT_FOUND))
                return false;
        g_clear_error(error);
        return down_without_view(argv[2], error);
}

int keyturn_network_main(int argc, char *argv[]) {
        /* Before options are taken from among the words. */
        const char *command = argc > 2 ? argv[1] : "", *unit = argv[argc - 1];
        bool is_check = argc > 2 && g_str_equal(argv[2], "--check");
        g_autoptr(GError) error = NULL;

        log_open("keyturn-network", LOG_TO_STDERR, LOG_INFO);
        umask(0022);
        if (argc > 1 && (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h"))) {
                help();
                return EXIT_SUCCESS;
        }
        if (program_says_version("keyturn-network", argc, argv))
                return EXIT_SUCCESS;
        if (user_view_enter(&error) ? run(argc, argv, &error) : down_anyway(argc, argv, &error))
                return EXIT_SUCCESS;
        log_error("%s", error->message);
        unit_failure_tell(error);
        /* Units of a user's have ExecCondition= and RestartPreventExitStatus= for it. Else they try. */
        if (stays_gone(command, unit))
                return EXIT_NOT_FOUND;
        return is_check ? EXIT_SUCCESS : EXIT_KEYTURN;
}
