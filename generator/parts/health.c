/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/health.h"
#include "generator/unit/specifiers.h"
#include "libstart/request/health-command.h"
#include "libstart/request/health-request.h"
#include "libstart/value/unit-words.h"

static bool has_check(const LaunchArgs *args) {
        return args->health_cmd && *args->health_cmd && !health_command_is_none(args->health_cmd);
}

static bool is_off(const LaunchArgs *args) {
        return args->no_healthcheck == FLAG_TRUE || (args->health_cmd && health_command_is_none(args->health_cmd));
}

/* A timer is a unit of its own, in which the container's specifiers and variables mean something else. */
static void check_interval(Conversion *container, const char *value, const char *key) {
        if (value && unit_word_is_unexpanded(value))
                conversion_problem(container, conversion_line(container, "Container", key),
                                   "'%s': specifiers and variables do not work here", value);
}

/* Podman takes them without a word, and uses the image's. */
static void warn_of_image(Conversion *container) {
        const LaunchArgs *args = container->args;
        const struct {
                const char *value, *key;
        } unused[] = {
                { args->health_interval, "HealthInterval" },
                { args->health_retries, "HealthRetries" },
                { args->health_start_period, "HealthStartPeriod" },
                { args->health_timeout, "HealthTimeout" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(unused) && !args->health_cmd; i++) {
                const UnitLine *line = conversion_line(container, "Container", unused[i].key);

                if (unused[i].value && line)
                        conversion_warning(
                                container, line,
                                "says nothing without HealthCmd=: a check that the image brings has its own, "
                                "ignoring");
        }
}

/* What systemd lays upon a process of the service, and not upon those beside it in the control group. A check is to
 * have it as the payload has: all that systemd makes a filter of, and some more. */
static bool is_of_process(const char *key) {
        static const char *const keys[] = {
                "CPUAffinity",
                "LockPersonality",
                "MemoryDenyWriteExecute",
                "NoNewPrivileges",
                "PrivateDevices",
                "ProtectClock",
                "ProtectHostname",
                "ProtectKernelLogs",
                "ProtectKernelModules",
                "ProtectKernelTunables",
                "RestrictAddressFamilies",
                "RestrictNamespaces",
                "RestrictRealtime",
                "RestrictSUIDSGID",
                "SystemCallArchitectures",
                "SystemCallErrorNumber",
                "SystemCallFilter",
                "SystemCallLog",
                NULL,
        };

        return g_str_has_prefix(key, "Limit") || g_strv_contains(keys, key);
}

/* From *i on, which becomes its number. */
static const UnitLine *find_restriction(const UnitSection *section, guint *i) {
        for (; section && *i < section->lines->len; (*i)++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, *i);

                if (line->key && is_of_process(line->key))
                        return line;
        }
        return NULL;
}

/* A drop-in can be for one service, and not for the instances of a template. What the image brings nobody knows here.
 */
static void check_template(Conversion *container) {
        LaunchArgs *args = container->args;
        guint first = 0;
        const UnitLine *line = find_restriction(unit_file_section(container->source->unit, "Service"), &first);

        if (!line || !g_str_has_suffix(container->service->name, "@.service"))
                return;
        if (has_check(args))
                conversion_problem(
                        container, line,
                        "a health check would not have it, as the file is a template: write HealthCmd=none, or a "
                        "file for each container");
        else if (!is_off(args)) {
                args->no_healthcheck = FLAG_TRUE;
                conversion_warning(
                        container, line,
                        "a check that the image brings would not have it, as the file is a template, and is "
                        "not run: write HealthCmd=none, or a file for each container");
        }
}

void health_finish(Conversion *container) {
        const LaunchArgs *args = container->args;

        check_template(container);
        check_interval(container, args->health_interval, "HealthInterval");
        check_interval(container, args->health_startup_interval, "HealthStartupInterval");
        warn_of_image(container);
}

/* Exactly, as Notify=healthy may wait for it. Stopped with the container, whatever ends that. */
static void put_timer(const Conversion *container, Writer *writer, const char *prefix, const char *interval) {
        const Service *service = container->service;
        g_autofree char *stem = g_strndup(service->name, strlen(service->name) - strlen(".service"));
        g_autofree char *name = g_strconcat(prefix, stem, ".timer", NULL);
        g_autofree char *instance = g_str_has_suffix(stem, "@") ? g_strconcat(stem, "%i", NULL) : g_strdup(stem);
        g_autofree char *path = specifiers_escape(container->source->path, "%");
        g_autoptr(GString) text = g_string_new(NULL);
        guint64 usec = HEALTH_SPAN_DEFAULT;

        if (interval && !health_interval_parse(interval, &usec, NULL))
                return;
        if (usec == 0)
                return;
        g_string_append_printf(text,
                               "# Made by keyturn-generator from %s\n\n"
                               "[Unit]\n"
                               "Description=Health Checks of %s\n"
                               "Documentation=man:keyturn.container(5)\n"
                               "SourcePath=%s\n"
                               "DefaultDependencies=no\n"
                               "BindsTo=%s.service\n"
                               "Conflicts=shutdown.target\n"
                               "Before=shutdown.target\n"
                               "IgnoreOnIsolate=yes\n"
                               "StartLimitIntervalSec=0\n\n"
                               "[Timer]\n"
                               "OnUnitInactiveSec=%" G_GUINT64_FORMAT "us\n"
                               "AccuracySec=1ms\n"
                               "Unit=keyturn-health@%s.service\n",
                               container->source->path, instance, path, instance, usec, instance);
        writer_put_file(writer, container->source->path, name, READERS_ALL, text);
}

static void put_restrictions(const Conversion *container, Writer *writer) {
        const UnitSection *section = container->service->user_service;
        g_autofree char *name = g_strconcat("keyturn-health@", container->service->name,
                                            ".d/50-keyturn-generator.conf", NULL);
        g_autoptr(GString) text = g_string_new("[Service]\n");
        const UnitLine *line;
        gsize empty = text->len;

        for (guint i = 0; (line = find_restriction(section, &i)); i++)
                g_string_append_printf(text, "%s\n", line->text);
        if (text->len > empty && !g_str_has_suffix(container->service->name, "@.service"))
                writer_put_file(writer, container->source->path, name, container->source->unit->readers, text);
}

void health_put_timers(const Conversion *container, Writer *writer) {
        const LaunchArgs *args = container->args;

        if (args->no_healthcheck != FLAG_TRUE)
                put_restrictions(container, writer);

        if (has_check(args))
                put_timer(container, writer, "keyturn-health-", args->health_interval);
        if (args->health_startup_cmd && *args->health_startup_cmd)
                put_timer(container, writer, "keyturn-startup-health-", args->health_startup_interval);
}
