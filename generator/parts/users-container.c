/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/devices.h"
#include "generator/parts/option-rules.h"
#include "generator/parts/users-container.h"
#include "libstart/request/launch-option.h"

/* What has been tried in a user's namespaces. All else is refused. */
static const char *const options[] = {
        "add-host",
        "annotation",
        "cap-add",
        "cap-drop",
        "detach",
        "device",
        "dns",
        "dns-option",
        "dns-search",
        "entrypoint",
        "env",
        "env-file",
        "env-host",
        "env-list",
        "group-add",
        "health-cmd",
        "health-interval",
        "health-log-destination",
        "health-max-log-count",
        "health-max-log-size",
        "health-on-failure",
        "health-retries",
        "health-start-period",
        "health-startup-cmd",
        "health-startup-interval",
        "health-startup-retries",
        "health-startup-success",
        "health-startup-timeout",
        "health-timeout",
        "hostname",
        "http-proxy",
        "image-unit",
        "image-volume",
        "init",
        "init-path",
        "label",
        "log-driver",
        "log-opt",
        "mount",
        "name",
        "network",
        "no-healthcheck",
        "no-hosts",
        "read-only",
        "read-only-tmpfs",
        "sdnotify",
        "secret",
        "security-opt",
        "shm-size",
        "state-dir",
        "stop-signal",
        "storage-opt",
        "sysctl",
        "systemd",
        "timing",
        "tmpfs",
        "tz",
        "ulimit",
        "umask",
        "untrusted-list",
        "user",
        "volume",
        "workdir",
        NULL,
};

static bool is_set(const LaunchArgs *args, const LaunchOption *option) {
        const void *field = launch_option_field(args, option);

        switch (option->kind) {
        case LAUNCH_OPTION_STRING:
                return *(char *const *) field;
        case LAUNCH_OPTION_LIST:
                return (*(GPtrArray *const *) field)->len > 0;
        case LAUNCH_OPTION_FLAG:
                return *(const LaunchFlag *) field == FLAG_TRUE;
        }
        g_assert_not_reached();
}

static void refuse_options(Container *container) {
        for (size_t i = 0; i < n_launch_options; i++) {
                const LaunchOption *option = &launch_options[i];
                const char *name = option->name + strlen("--");

                if (option->help && is_set(container->args, option) && !g_strv_contains(options, name))
                        container_problem(container, option_rules_find_line(container, name),
                                          "is not there yet for containers of users' managers (--%s): remove it, or "
                                          "let Podman run this one",
                                          name);
        }
}

static void refuse_values(Container *container) {
        const LaunchArgs *args = container->args;

        if (devices_have_cdi(args))
                container_problem(container, option_rules_find_line(container, "device"),
                                  "a container of a user's manager has no devices of CDI: name the nodes");
        if (args->network && !g_str_equal(args->network, "host") && !g_str_equal(args->network, "none"))
                container_problem(container, option_rules_find_line(container, "network"),
                                  "a container of a user's manager has Network=host or Network=none");
        if (args->sdnotify && !g_str_equal(args->sdnotify, "conmon") && !g_str_equal(args->sdnotify, "ignore"))
                container_problem(container, option_rules_find_line(container, "sdnotify"),
                                  "a user's manager does not hear what a payload says: remove Notify=");
        if (args->log_driver && !g_str_equal(args->log_driver, "journald") &&
            !g_str_equal(args->log_driver, "passthrough") && !g_str_equal(args->log_driver, "none"))
                container_problem(container, option_rules_find_line(container, "log-driver"),
                                  "a container of a user's manager writes to the journal");
        if (launch_args_last(args->log_opt, "path"))
                container_problem(container, option_rules_find_line(container, "log-opt"),
                                  "a container of a user's manager writes to the journal: remove path=");
}

static void refuse_lines(Container *container) {
        static const struct {
                const char *section, *key;
        } lines[] = { { "Container", "Pod" },        { "Container", "PublishPort" },  { "Container", "ReloadCmd" },
                      { "Container", "AutoUpdate" }, { "Service", "StandardOutput" }, { "Service", "StandardError" },
                      { "Keyturn", "Early" } };

        static const char *const harmless[] = { "", "never", "journal", "null", "inherit", NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                const UnitLine *line = container_line(container, lines[i].section, lines[i].key);

                if (line && !g_strv_contains(harmless, line->value))
                        container_problem(container, line,
                                          "is not there yet for containers of users' managers: remove it, or let "
                                          "Podman run this one");
        }
}

void users_container_check(Container *container) {
        if (!container->is_users)
                return;
        refuse_options(container);
        refuse_values(container);
        refuse_lines(container);
}

void users_container_unit(const Container *container, Service *service) {
        if (!container->is_users)
                return;
        service_unit_first(service, "Wants", "keyturn-view.service");
        service_unit_first(service, "After", "keyturn-view.service");
}
