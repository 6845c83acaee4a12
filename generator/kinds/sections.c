/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/kinds/sections.h"
#include "generator/files/names.h"
#include "generator/parts/cgroup-limits.h"
#include "generator/parts/devices.h"
#include "generator/parts/early.h"
#include "generator/parts/filters-needed.h"
#include "generator/parts/hooks.h"
#include "generator/parts/images.h"
#include "generator/parts/log-driver.h"
#include "generator/parts/mounts.h"
#include "generator/parts/podman-commands.h"
#include "generator/parts/reload.h"
#include "generator/parts/runtime.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/key.h"
#include "generator/unit/keys.h"
#include "generator/unit/specifiers.h"
#include "libstart/request/systemd-mode.h"
#include "libstart/value/signal-name.h"
#include "libstart/value/unit-words.h"

/* Those of all kinds of files. */
static const char *const known[] = { "Artifact", "Build", "Container", "Image",   "Install", "Keyturn", "Kube",
                                     "Network",  "Pod",   "Quadlet",   "Service", "Unit",    "Volume",  NULL };

/* Of that of another kind nobody would read the keys, Internal=yes of a network for example. */
static bool is_read(const Conversion *container, const char *name) {
        static const char *const everywhere[] = { "Install", "Quadlet", "Service", "Unit", NULL };
        bool has_keyturn = g_str_equal(container->section, "Container") || g_str_equal(container->section, "Pod");

        return g_strv_contains(everywhere, name) || g_str_equal(name, container->section) ||
               (has_keyturn && g_str_equal(name, "Keyturn")) || g_str_has_prefix(name, "X-");
}

/* systemd would leave out such a section, and a container would run without its limits. */
static void check_section(Conversion *container, const UnitSection *section) {
        if (g_str_equal(section->name, "Keyturn")) {
                conversion_warning(container, &section->header,
                                   "[Keyturn] is for .container and .pod files: it means nothing beside [%s]",
                                   container->section);
                return;
        }
        if (g_strv_contains(known, section->name)) {
                conversion_problem(container, &section->header, "[%s] means nothing here; is [%s] meant?",
                                   section->name, container->section);
                return;
        }
        for (const char *const *name = known; *name; name++)
                if (is_read(container, *name) && g_ascii_tolower(section->name[0]) == g_ascii_tolower(**name) &&
                    keys_is_slip(section->name, *name)) {
                        conversion_problem(container, &section->header, "unknown section [%s]; is [%s] meant?",
                                           section->name, *name);
                        return;
                }
        conversion_problem(container, &section->header,
                           "unknown section [%s]; one that is for another program is called [X-%s]", section->name,
                           section->name);
}

/*
 * [Unit]
 */

/* Only those of systemd's keys that name units (Podman's list). */
static bool names_units(const char *key) {
        static const char *const keys[] = {
                "After",     "Before",
                "BindsTo",   "Conflicts",
                "OnFailure", "OnSuccess",
                "PartOf",    "PropagatesReloadTo",
                "Requires",  "PropagatesStopTo",
                "Requisite", "ReloadPropagatedFrom",
                "Wants",     "StopPropagatedFrom",
                "Upholds",   NULL,
        };

        return g_strv_contains(keys, key);
}

static bool has_quadlet_name(const GPtrArray *words) {
        for (guint i = 0; i < words->len; i++)
                if (name_suffix(words->pdata[i]))
                        return true;
        return false;
}

static void translate_line(Conversion *container, UnitLine *line) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GString) value = g_string_new(NULL);
        g_autofree char *text = NULL;

        if (!words_split(words, line->value, WORDS_PLAIN, NULL) || !has_quadlet_name(words))
                return; /* what is no list of words, systemd will say better */
        for (guint i = 0; i < words->len; i++) {
                g_autoptr(GError) error = NULL;
                g_autofree char *unit = unit_names_translate(container->names, words->pdata[i], &error);

                if (!unit) {
                        conversion_problem(container, line, "%s", error->message);
                        return;
                }
                unit_words_add(value, unit);
        }
        text = g_strconcat(line->key, "=", value->str, NULL);
        line->text = unit_file_keep(container->source->unit, text);
}

static void translate_names(Conversion *container) {
        UnitSection *section = unit_file_section(container->source->unit, "Unit");

        for (guint i = 0; section && i < section->lines->len; i++) {
                UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && names_units(line->key))
                        translate_line(container, line);
        }
}

void sections_begin(Conversion *container) {
        const GPtrArray *sections = container->source->unit->sections;

        conversion_add_syntax_problems(container);
        for (guint i = 0; i < sections->len; i++) {
                const UnitSection *section = sections->pdata[i];

                if (section->name && !is_read(container, section->name))
                        check_section(container, section);
        }
        translate_names(container);
}

/* With passthrough the payload gets the journal's socket itself, but never a file or a terminal of the host: the
 * relay writes to those. What a payload says to systemd always goes through the relay. */
static bool is_relayed(const Conversion *container) {
        const char *driver = container->args->log_driver;

        if (!driver || g_str_equal(driver, "journald") || g_strcmp0(container->args->sdnotify, "container") == 0)
                return true;
        return g_str_equal(driver, "passthrough") && (service_user_line(container->service, "StandardOutput") ||
                                                      service_user_line(container->service, "StandardError"));
}

/* The services that serve all containers. They are wanted, not required: without them libstart compiles the filter
 * itself, says so where it cannot log, and does not start a payload whose readiness it could not pass on. An early
 * service does not wait for the filters: waiting costs 0.4 s in a boot whose first processes share one CPU, compiling
 * one filter at most 0.15 s (tests/vm/README.md). */
static void add_wants(const Conversion *container) {
        Service *service = container->service;
        g_autoptr(GString) wants = g_string_new(NULL), after = g_string_new(NULL);
        g_autofree char *userns = user_namespace_service(container), *copier = user_namespace_copier(container);
        const char *const waited[] = { is_relayed(container) ? "keyturn-relay.socket" : NULL,
                                       devices_have_cdi(container->args) ? "keyturn-cdi.service" : NULL, userns,
                                       copier };

        if (!container->args->runtime && filters_needed_option(container->args, NULL).enabled) {
                unit_words_add(wants, "keyturn-seccomp.service");
                if (!container->is_early)
                        unit_words_add(after, "keyturn-seccomp.service");
        }
        for (size_t i = 0; i < G_N_ELEMENTS(waited); i++)
                if (waited[i]) {
                        unit_words_add(wants, waited[i]);
                        unit_words_add(after, waited[i]);
                }
        if (wants->len > 0)
                service_unit_first(service, "Wants", wants->str);
        if (after->len > 0)
                service_unit_first(service, "After", after->str);
}

void sections_source_path(Conversion *container) {
        g_autofree char *path = specifiers_escape(container->source->path, "%");

        if (g_path_is_absolute(path))
                service_unit(container->service, "SourcePath", path);
}

void sections_unit(Conversion *container) {
        add_wants(container);
        early_unit(container);
        sections_source_path(container);
        mounts_require(container);
}

void sections_unit_of_pod(Conversion *pod) {
        sections_source_path(pod);
        mounts_require(pod);
}

/*
 * [Service]
 */

static void check_kill_mode(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "KillMode");

        if (!line)
                service_set(container->service, "KillMode", "mixed");
        else if (!g_str_equal(line->value, "mixed") && !g_str_equal(line->value, "control-group"))
                conversion_problem(container, line, "'%s' would leave processes behind; use mixed or control-group",
                                   line->value);
}

/* Of a descriptor, root in the container can do more than read. */
static void check_input(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "StandardInput");

        if (line && g_str_has_prefix(line->value, "tty"))
                conversion_problem(
                        container, line,
                        "a terminal of the host's is not given to a payload; remove it (output may go to one: "
                        "StandardOutput=tty)");
}

/* Docker's word. systemd leaves such a line out, and what ends stays down. */
static void check_restart(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "Restart");

        if (line && g_str_equal(line->value, "unless-stopped"))
                conversion_warning(container, line,
                                   "systemd does not know 'unless-stopped', and will not restart this: write always, "
                                   "with which 'systemctl stop' counts, too");
}

/* systemd's filters for it keep openat2(2) from libstart, which reads nothing of an image without. */
static void check_setuid(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "RestrictSUIDSGID");
        bool is_set;

        if (line && key_parse_boolean(line->value, &is_set, NULL) && is_set)
                conversion_problem(container, line,
                                   "no container can be started with it: remove it; for a payload that gains nothing "
                                   "from setuid files, write NoNewPrivileges=true in [Container]");
}

static void set_type(Conversion *container) {
        const UnitLine *type = service_user_line(container->service, "Type");
        const UnitLine *exec = service_user_line(container->service, "ExecStart");
        Service *service = container->service;

        if (type && g_str_equal(type->value, "oneshot")) {
                g_clear_pointer(&container->args->sdnotify, g_free); /* it is ready when it is done */
                return;
        }
        if (type && !g_str_equal(type->value, "notify"))
                conversion_problem(container, type, "'%s' does not work for a container; use notify or oneshot",
                                   type->value);
        if (exec)
                conversion_problem(container, exec,
                                   "keyturn writes ExecStart= itself; use Exec= in [Container], or ExecStartPre=");
        container->args->detach = FLAG_TRUE;
        service_set(service, "Type", "notify");
        /* libstart first, then the payload, or rather the relay in its name; a user's, from the control group. */
        service_set(service, "NotifyAccess", container->is_users ? "all" : "main");
}

/* The stop is systemd's alone: it signals the payload itself. */
static void set_kill_signal(Conversion *container) {
        const char *name = container->args->stop_signal;
        const UnitLine *line = conversion_line(container, "Container", "StopSignal"),
                       *users = service_user_line(container->service, "KillSignal");
        g_autoptr(GError) error = NULL;
        g_autofree char *value = NULL;
        int number;

        if (g_strcmp0(container->stop_timeout, "0") == 0)
                name = "SIGKILL"; /* no time to react: systemd takes a timeout of 0 for none */
        if (!name) {
                /* systemd knows it; libstart must, or it would remind of the image's. */
                if (users)
                        launch_args_set(container->args, "stop-signal", users->value, NULL);
                return;
        }
        if (!signal_name_parse(name, &number, &error)) {
                conversion_problem(container, line, "the stop signal: %s", error->message);
                return;
        }
        value = signal_name_print(number);
        service_set(container->service, "KillSignal", value);
}

/* The kernel keeps SIGABRT from a PID 1 that has no handler for it, so a payload that hangs would go on hanging until
 * TimeoutStopSec= is over. What Podman does ends it, too. */
static void set_watchdog_signal(Conversion *container) {
        Service *service = container->service;

        if (service_user_line(service, "WatchdogSec") && !service_user_line(service, "WatchdogSignal"))
                service_set(service, "WatchdogSignal", "SIGKILL");
}

/* As far as the file says it: the image's command is not known here. */
static bool is_init(const LaunchArgs *args) {
        const char *words[] = { args->entrypoint, NULL, NULL, NULL };
        SystemdMode mode = SYSTEMD_AUTO;

        if (args->systemd && !systemd_mode_parse(args->systemd, &mode, NULL))
                return false;
        for (guint i = 0; !args->entrypoint && i < MIN(args->command->len, G_N_ELEMENTS(words) - 1); i++)
                words[i] = args->command->pdata[i];
        return args->init != FLAG_TRUE && systemd_mode_applies(mode, words);
}

/* systemd has to leave the cgroups to an init that this makes, and to give it controllers. */
static void set_delegate(Conversion *container) {
        if (is_init(container->args) && !service_user_line(container->service, "Delegate"))
                service_set(container->service, "Delegate", "yes");
}

/* Podman gives a payload ten seconds, systemd ninety. */
static void set_stop_timeout(Conversion *container) {
        Service *service = container->service;
        const char *timeout = container->stop_timeout;

        if (timeout && !g_str_equal(timeout, "0"))
                service_set(service, "TimeoutStopSec", timeout[0] == '-' ? "infinity" : timeout);
        else if (!service_user_line(service, "TimeoutStopSec") && !service_user_line(service, "TimeoutSec"))
                service_set(service, "TimeoutStopSec", "10");
}

/* systemd's own lines in the journal and those from the relay have the same name. */
static void set_identifier(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "SyslogIdentifier");
        const char *tag = launch_args_last(container->args->log_opt, "tag");
        g_autofree char *option = NULL;
        g_autoptr(GError) error = NULL;

        if (!line)
                service_set(container->service, "SyslogIdentifier", tag ? tag : "%N");
        else if (!tag) {
                option = g_strconcat("tag=", line->value, NULL);
                if (!launch_args_set(container->args, "log-opt", option, &error))
                        conversion_problem(container, line, "%s", error->message);
        }
}

/* libstart has none of its own: what systemd gives a service is meant for the payload. */
static void set_umask(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "UMask");
        g_autoptr(GError) error = NULL;

        if (line && !container->args->umask && !key_set_option(container, "umask", line->value, &error))
                conversion_problem(container, line, "%s", error->message);
}

/* A name may be followed by that of a link, and by how it is mounted. */
static void add_directories(GPtrArray *paths, const UnitLine *line) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        (void) words_split(words, line->value, WORDS_RELAXED, NULL);
        for (guint i = 0; i < words->len; i++) {
                const char *word = words->pdata[i];

                g_ptr_array_add(paths, g_strdup_printf("%%t/%.*s", (int) strcspn(word, ":"), word));
        }
}

/* In RUNTIME_DIRECTORY systemd would name keyturn's directory behind those that the file asks for: a path that a
 * Volume= or a command of the file makes of it would be none. */
static void set_runtime_directory(Service *service) {
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        const UnitSection *section = service->user_service;
        g_autofree char *joined = NULL, *assignment = NULL;

        service_set(service, "RuntimeDirectory", name_state_directory(service->name));
        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (g_strcmp0(line->key, "RuntimeDirectory") == 0 && !unit_section_takes_back(section, line))
                        add_directories(paths, line);
                else if (g_strcmp0(line->key, "Environment") == 0 && strstr(line->value, "RUNTIME_DIRECTORY="))
                        return;
        }
        if (paths->len == 0)
                return;
        g_ptr_array_add(paths, NULL);
        joined = g_strjoinv(":", (char **) paths->pdata);
        assignment = g_strdup_printf("\"RUNTIME_DIRECTORY=%s\"", joined);
        if (!strpbrk(joined, "\"\\"))
                service_set(service, "Environment", assignment);
}

void sections_service(Conversion *container) {
        Service *service = container->service;

        set_umask(container);
        set_type(container);
        image_service(container);
        check_kill_mode(container);
        check_input(container);
        check_restart(container);
        check_setuid(container);
        set_kill_signal(container);
        set_watchdog_signal(container);
        set_delegate(container);
        set_stop_timeout(container);
        reload_service(container);
        cgroup_limits_service(container);
        if (!container->is_users) /* only root's manager forbids devices */
                devices_service(container);
        set_identifier(container);
        log_fields_set(container);
        set_runtime_directory(service);
        hooks_service(container);
        runtime_service(container);
        podman_commands_check(container);
}
