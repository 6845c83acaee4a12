/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/log-driver.h"
#include "generator/unit/source-path.h"

bool handle_log_driver(Container *container, const Key *key, const Value *value, GError **error) {
        static const char *const files[] = { "k8s-file", "json-file", NULL };
        bool is_file = g_strv_contains(files, value->text);

        container->log_file_line = is_file ? value->line : NULL;
        return key_set_option(container, "log-driver", is_file ? "journald" : value->text, error);
}

bool handle_log_option(Container *container, const Key *key, const Value *value, GError **error) {
        Noted limit = { NULL, value->line };

        if (g_str_has_prefix(value->text, "tag=") || g_str_has_prefix(value->text, "path=") ||
            value->text[0] == '=' || !strchr(value->text, '='))
                return key_set_option(container, "log-opt", value->text, error);
        if (g_str_has_prefix(value->text, "max-")) {
                limit.text = g_strdup(value->text);
                g_array_append_val(container->log_limits, limit);
        } else
                container_warning(
                        container, value->line,
                        "there is no log option '%s', here as with Podman: there are tag=NAME and path=FILE, "
                        "ignoring",
                        value->text);
        return true;
}

static void finish_limits(Container *container, bool has_file) {
        for (guint i = 0; i < container->log_limits->len; i++) {
                const Noted *limit = &g_array_index(container->log_limits, Noted, i);

                if (has_file)
                        container_problem(container, limit->line,
                                          "'%s': nothing limits the file of path=: remove one of the two, and let "
                                          "logrotate(8) limit it, with copytruncate",
                                          limit->text);
                else
                        container_warning(container, limit->line,
                                          "'%s' does nothing: the journal has limits of its own (journald.conf(5))",
                                          limit->text);
        }
}

static void check_stream(Container *container, const char *key) {
        const UnitLine *line = service_user_line(container->service, key);

        if (line)
                container_problem(container, line, "path= of LogOpt= says where output goes: remove one of the two");
}

/* Podman's have the file, with any other driver it says nothing. */
static void finish_file(Container *container, const char *path) {
        const UnitLine *line = container_line_with(container, "Container", "LogOpt", "path=") ?:
                                       container_line_with(container, "Container", "PodmanArgs", "path=");
        g_autofree char *mounts = source_path_for_mounts(path);

        check_stream(container, "StandardOutput");
        check_stream(container, "StandardError");
        if (mounts)
                service_unit(container->service, "RequiresMountsFor", mounts);
        if (container->log_file_line && !container->is_refused)
                container_difference(container, line,
                                     "lines are in '%s' as they are said, where Podman adds the time and the stream; "
                                     "the journal does not have them",
                                     path);
        else if (!container->log_file_line)
                container_problem(container, line, "path= is of LogDriver=k8s-file: write that, too");
}

void log_driver_finish(Container *container) {
        const char *path = launch_args_last(container->args->log_opt, "path");

        finish_limits(container, path);
        if (path)
                finish_file(container, path);
        else if (container->log_file_line && !container->is_refused)
                container_difference(container, container->log_file_line,
                                     "the journal keeps the lines, where this driver of Podman's has a file for each "
                                     "container: see journalctl -u NAME; for a file, write LogOpt=path=FILE");
}
