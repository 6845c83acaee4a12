/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/log-driver.h"
#include "generator/unit/specifiers.h"
#include "libstart/value/unit-words.h"

bool handle_log_driver(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char *const files[] = { "k8s-file", "json-file", NULL };
        bool is_file = g_strv_contains(files, value->text);

        container->log.file_line = is_file ? value->line : NULL;
        return key_set_option(container, "log-driver", is_file ? "journald" : value->text, error);
}

bool handle_log_option(Conversion *container, const Key *key, const Value *value, GError **error) {
        if (g_str_has_prefix(value->text, "tag=") || g_str_has_prefix(value->text, "path=") ||
            value->text[0] == '=' || !strchr(value->text, '='))
                return key_set_option(container, "log-opt", value->text, error);
        if (g_str_has_prefix(value->text, "max-"))
                noted_add(container->log.limits, value->text, value->line);
        else
                conversion_warning(
                        container, value->line,
                        "there is no log option '%s', here as with Podman: there are tag=NAME and path=FILE, "
                        "ignoring",
                        value->text);
        return true;
}

static void finish_limits(Conversion *container, bool has_file) {
        for (guint i = 0; i < container->log.limits->len; i++) {
                const Noted *limit = &g_array_index(container->log.limits, Noted, i);

                if (has_file)
                        conversion_problem(container, limit->line,
                                           "'%s': nothing limits the file of path=: remove one of the two, and let "
                                           "logrotate(8) limit it, with copytruncate",
                                           limit->text);
                else
                        conversion_warning(container, limit->line,
                                           "'%s' does nothing: the journal has limits of its own (journald.conf(5))",
                                           limit->text);
        }
}

static void check_stream(Conversion *container, const char *key) {
        const UnitLine *line = service_user_line(container->service, key);

        if (line)
                conversion_problem(container, line, "path= of LogOpt= says where output goes: remove one of the two");
}

/* Podman's have the file, with any other driver it says nothing. */
static void finish_file(Conversion *container, const char *path) {
        const UnitLine *line = conversion_line_with(container, "Container", "LogOpt", "path=") ?:
                                       conversion_line_with(container, "Container", "PodmanArgs", "path=");
        g_autofree char *mounts = specifiers_required_path(path);

        check_stream(container, "StandardOutput");
        check_stream(container, "StandardError");
        if (mounts)
                service_unit(container->service, "RequiresMountsFor", mounts);
        if (container->log.file_line && !container->is_refused)
                conversion_difference(
                        container, line,
                        "lines are in '%s' as they are said, where Podman adds the time and the stream; "
                        "the journal does not have them",
                        path);
        else if (!container->log.file_line)
                conversion_problem(container, line, "path= is of LogDriver=k8s-file: write that, too");
}

void log_driver_finish(Conversion *container) {
        const char *path = launch_args_last(container->args->log_opt, "path");

        finish_limits(container, path);
        if (path)
                finish_file(container, path);
        else if (container->log.file_line && !container->is_refused)
                conversion_difference(
                        container, container->log.file_line,
                        "the journal keeps the lines, where this driver of Podman's has a file for each "
                        "container: see journalctl -u NAME; for a file, write LogOpt=path=FILE");
}

bool handle_log_fields(Conversion *container, const Key *key, const Value *value, GError **error) {
        container->log.has_fields = g_str_equal(value->text, "true");
        return true;
}

/* systemd expands %, as in ExecStart=, but no variables: a value with one is left out. */
static void add(GString *fields, const char *name, const char *value) {
        g_autofree char *field = g_strconcat(name, "=", value, NULL);

        if (value && !strchr(value, '$'))
                unit_words_add(fields, field);
}

/* As in the OCI state, a container's id is its name. */
void log_fields_set(Conversion *container) {
        g_autoptr(GString) fields = g_string_new(NULL);
        const LaunchArgs *args = container->args;

        if (!container->log.has_fields)
                return;
        add(fields, "CONTAINER_NAME", args->name);
        add(fields, "CONTAINER_ID", args->name);
        add(fields, "CONTAINER_ID_FULL", args->name);
        add(fields, "CONTAINER_TAG", launch_args_last(args->log_opt, "tag"));
        add(fields, "IMAGE_NAME", args->image);
        service_set(container->service, "LogExtraFields", fields->str);
}
