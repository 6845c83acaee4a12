/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/ctl/container/container-units.h"

#define MANAGER "org.freedesktop.systemd1"
#define OBJECT "/org/freedesktop/systemd1"
#define INTERFACE "org.freedesktop.systemd1.Manager"
#define SERVICE "org.freedesktop.systemd1.Service"
#define UNIT "org.freedesktop.systemd1.Unit"

static const char *const generator_dirs[] = {
        "/run/systemd/generator.early",
        "/run/systemd/generator",
        "/run/systemd/generator.late",
};

void container_unit_free(ContainerUnit *container) {
        g_free(container->unit);
        launch_args_free(container->args);
        g_free(container->active);
        g_free(container->state);
        g_free(container->cgroup);
        g_free(container->source);
        g_free(container);
}

char *container_unit_state_dir(const ContainerUnit *container) {
        g_autofree char *stem = g_strndup(container->unit, strlen(container->unit) - strlen(".service"));

        return container->args->state_dir ? g_strdup(container->args->state_dir) :
                                            g_build_filename(PATH_RUN, stem, NULL);
}

bool container_unit_is_started(const ContainerUnit *container) {
        g_autofree char *directory = container_unit_state_dir(container);
        g_autofree char *status = g_build_filename(directory, container->args->name, "status", NULL);

        return g_file_test(status, G_FILE_TEST_EXISTS);
}

static bool fail(int r, const sd_bus_error *bus_error, const char *what, GError **error) {
        if (sd_bus_error_is_set(bus_error))
                return error_set(error, KT_ERROR_FAILED, "Cannot %s: %s", what, bus_error->message);
        return error_set_errno(error, -r, "Cannot %s", what);
}

/* Does the file say that libstart is to be run? Any other generator's services are in the same directories. */
static bool is_ours(const char *path) {
        g_autofree char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) &&
               (strstr(text, "/libstart run ") || strstr(text, "/libstart refuse "));
}

static void add_directory(const char *path, GPtrArray *names) {
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *file = g_build_filename(path, name, NULL);

                if (g_str_has_suffix(name, ".service") && is_ours(file))
                        g_ptr_array_add(names, g_strdup(name));
        }
}

/* The instances that systemd has loaded, in the place of a template. */
static bool add_instances(sd_bus *bus, const char *template, GPtrArray *names, GError **error) {
        g_autofree char *stem = g_strndup(template, strlen(template) - strlen(".service"));
        g_autofree char *pattern = g_strconcat(stem, "*.service", NULL);
        sd_bus_error bus_error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        const char *name;
        int r = sd_bus_call_method(bus, MANAGER, OBJECT, INTERFACE, "ListUnitsByPatterns", &bus_error, &reply, "asas",
                                   0, 1, pattern);

        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
        while (r >= 0 && (r = sd_bus_message_read(reply, "(ssssssouso)", &name, NULL, NULL, NULL, NULL, NULL, NULL,
                                                  NULL, NULL, NULL)) > 0)
                g_ptr_array_add(names, g_strdup(name));
        if (r < 0)
                fail(r, &bus_error, "ask systemd for its units", error);
        sd_bus_message_unref(reply);
        sd_bus_error_free(&bus_error);
        return r >= 0;
}

static char *get_string(sd_bus *bus, const char *path, const char *interface, const char *name) {
        char *value = NULL;

        return sd_bus_get_property_string(bus, MANAGER, path, interface, name, NULL, &value) < 0 ? strdup("") : value;
}

static guint64 get_number(sd_bus *bus, const char *path, const char *interface, const char *name, char type) {
        union {
                guint32 u;
                guint64 t;
        } value = { .t = 0 };

        if (sd_bus_get_property_trivial(bus, MANAGER, path, interface, name, NULL, type, &value) < 0)
                return 0;
        return type == 't' ? value.t : value.u;
}

/* Of a service that has failed, how: its SubState= says "failed" once more. Transfer full. */
static char *describe_state(sd_bus *bus, const char *path, const char *active) {
        bool failed = g_str_equal(active, "failed");
        g_autofree char *detail = get_string(bus, path, failed ? SERVICE : UNIT, failed ? "Result" : "SubState");
        int status = (int) get_number(bus, path, SERVICE, "ExecMainStatus", 'i');

        if (failed && status > 0 && g_str_equal(detail, "exit-code"))
                return g_strdup_printf("failed (exit status %d)", status);
        if (failed && sigabbrev_np(status) && (g_str_equal(detail, "signal") || g_str_equal(detail, "core-dump")))
                return g_strdup_printf("failed (signal SIG%s)", sigabbrev_np(status));
        return g_strdup_printf("%s (%s)", active, detail);
}

/* Of a container that waits for its image: why that could not be brought, and when it is tried again. Transfer full;
 * NULL: it does not wait. */
static char *describe_image(sd_bus *bus, const char *unit) {
        g_autofree char *path = NULL, *result = NULL, *said = NULL, *state = NULL;
        guint64 next, now = (guint64) g_get_monotonic_time();

        if (sd_bus_path_encode(OBJECT "/unit", g_str_has_prefix(unit, "always:") ? unit + strlen("always:") : unit,
                               &path) < 0)
                return NULL;
        result = get_string(bus, path, SERVICE, "Result");
        said = get_string(bus, path, SERVICE, "StatusText");
        state = get_string(bus, path, UNIT, "SubState");
        if (!result[0] || g_str_equal(result, "success"))
                return NULL;
        if (!g_str_equal(state, "auto-restart"))
                return g_strdup(said);
        next = get_number(bus, path, UNIT, "StateChangeTimestampMonotonic", 't') +
               get_number(bus, path, SERVICE, "RestartUSec", 't');
        return g_strdup_printf("%s; next try in %.0f s", said,
                               next > now ? (double) (next - now) / G_USEC_PER_SEC : 0.0);
}

static void add_image(sd_bus *bus, ContainerUnit *container) {
        g_autofree char *waits_for = describe_image(bus, container->args->image_unit), *state = container->state;

        container->state = waits_for ? g_strdup_printf("%s: %s", state, waits_for) : g_steal_pointer(&state);
}

/* The words of the first ExecStart=, with variables that systemd expands only when it executes them; none where there
 * is none. */
static char **get_words(sd_bus *bus, const char *path, GError **error) {
        sd_bus_error bus_error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        char **words = NULL;
        int r = sd_bus_get_property(bus, MANAGER, path, SERVICE, "ExecStart", &bus_error, &reply, "a(sasbttttuii)");

        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(sasbttttuii)");
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'r', "sasbttttuii");
        if (r > 0)
                r = sd_bus_message_skip(reply, "s");
        if (r > 0)
                r = sd_bus_message_read_strv(reply, &words);
        if (r >= 0 && !words)
                words = g_new0(char *, 1);
        if (r < 0)
                fail(r, &bus_error, "read a unit's ExecStart=", error);
        sd_bus_message_unref(reply);
        sd_bus_error_free(&bus_error);
        return words;
}

/* The words behind `libstart run`, or behind `libstart refuse UNIT`. NULL: masked, or with another ExecStart= in a
 * drop-in, a unit is no container, whatever the generator wrote. */
static char **find_arguments(char **words, bool *ret_is_refused) {
        if (!words[0] || !g_str_has_suffix(words[0], "/libstart") || !words[1])
                return NULL;
        *ret_is_refused = g_str_equal(words[1], "refuse") && words[2] && words[3];
        if (*ret_is_refused)
                return words + 3;
        return g_str_equal(words[1], "run") ? words + 2 : NULL;
}

static bool is_stopped(const ContainerUnit *container) {
        return g_str_equal(container->active, "inactive") || g_str_equal(container->active, "failed");
}

/* Leaves container->args NULL where the unit is no container. */
static bool read_unit(sd_bus *bus, const char *path, ContainerUnit *container, GError **error) {
        g_auto(GStrv) words = get_words(bus, path, error);
        char **arguments;

        if (!words)
                return false;
        arguments = find_arguments(words, &container->is_refused);
        if (!arguments)
                return true;
        container->args = launch_args_parse((const char *const *) arguments, error);
        if (!container->args)
                return false;
        container->active = get_string(bus, path, UNIT, "ActiveState");
        container->source = get_string(bus, path, UNIT, "SourcePath");
        if (container->is_refused && !container->source[0] && is_stopped(container)) {
                g_clear_pointer(&container->args, launch_args_free); /* its file was deleted: that was all of it */
                return true;
        }
        container->state = describe_state(bus, path, container->active);
        if (container->args->image_unit && !g_str_equal(container->active, "active"))
                add_image(bus, container);
        if (container->is_refused) {
                g_autofree char *state = container->state;

                container->state = g_strconcat(state, container->source[0] ? ", file refused" : ", file deleted",
                                               NULL);
        }
        container->cgroup = get_string(bus, path, SERVICE, "ControlGroup");
        container->pid = (guint32) get_number(bus, path, SERVICE, "MainPID", 'u');
        if (g_str_equal(container->active, "active") && container->pid > 0 && !container_unit_is_started(container)) {
                g_autofree char *state = container->state;

                container->state = g_strconcat(state, ", started by Podman", NULL);
        }
        container->kill_signal = (int) get_number(bus, path, SERVICE, "KillSignal", 'i');
        container->stop_timeout = get_number(bus, path, SERVICE, "TimeoutStopUSec", 't');
        container->since = get_number(bus, path, UNIT, "StateChangeTimestamp", 't');
        container->begin = get_number(bus, path, UNIT, "InactiveExitTimestampMonotonic", 't');
        container->end = get_number(bus, path, UNIT, "ActiveEnterTimestampMonotonic", 't');
        container->start = container->end > container->begin ? container->end - container->begin : 0;
        container->main_start = get_number(bus, path, SERVICE, "ExecMainStartTimestampMonotonic", 't');
        container->restarts = (guint32) get_number(bus, path, SERVICE, "NRestarts", 'u');
        return true;
}

static ContainerUnit *load(sd_bus *bus, const char *unit, GError **error) {
        g_autoptr(ContainerUnit) container = g_new0(ContainerUnit, 1);
        sd_bus_error bus_error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        const char *path = NULL;
        bool ok;
        int r = sd_bus_call_method(bus, MANAGER, OBJECT, INTERFACE, "LoadUnit", &bus_error, &reply, "s", unit);

        container->unit = g_strdup(unit);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        ok = r < 0 ? fail(r, &bus_error, "load a unit", error) : read_unit(bus, path, container, error);
        sd_bus_message_unref(reply);
        sd_bus_error_free(&bus_error);
        if (ok)
                return g_steal_pointer(&container);
        g_prefix_error(error, "%s: ", unit);
        return NULL;
}

/* Those that were made when the system image was built (generator/image-units.h). One that the generator has made
 * anew is there already. */
static void add_image_units(GPtrArray *names) {
        g_autofree char *text = NULL;

        if (!g_file_get_contents(KEYTURN_LIBDIR "/image-units", &text, NULL, NULL))
                return;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                g_autofree char *path = g_build_filename(KEYTURN_UNITDIR, *line, NULL);

                if (g_str_has_suffix(*line, ".service") && !strchr(*line, '/') && is_ours(path) &&
                    !g_ptr_array_find_with_equal_func(names, *line, g_str_equal, NULL))
                        g_ptr_array_add(names, g_strdup(*line));
        }
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *list_units(sd_bus *bus, GError **error) {
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) units = g_ptr_array_new_with_free_func(g_free);

        for (size_t i = 0; i < G_N_ELEMENTS(generator_dirs); i++)
                add_directory(generator_dirs[i], files);
        add_image_units(files);
        for (guint i = 0; i < files->len; i++) {
                const char *name = files->pdata[i];

                if (!g_str_has_suffix(name, "@.service"))
                        g_ptr_array_add(units, g_strdup(name));
                else if (!add_instances(bus, name, units, error))
                        return NULL;
        }
        g_ptr_array_sort(units, compare_strings);
        return g_steal_pointer(&units);
}

static bool is_unit(const char *unit, const char *name) {
        size_t length = name ? strlen(name) : 0;

        return name && strncmp(unit, name, length) == 0 && (!unit[length] || g_str_equal(unit + length, ".service"));
}

static const char *find_unit(const GPtrArray *units, const char *name) {
        for (guint i = 0; i < units->len; i++)
                if (is_unit(units->pdata[i], name))
                        return units->pdata[i];
        return NULL;
}

static bool add(sd_bus *bus, const char *unit, GPtrArray *all, GError **error) {
        ContainerUnit *container = load(bus, unit, error);

        if (!container)
                return false;
        if (container->args)
                g_ptr_array_add(all, container);
        else
                container_unit_free(container);
        return true;
}

GPtrArray *container_units_find(sd_bus *bus, const char *name, GError **error) {
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify) container_unit_free);
        g_autoptr(GPtrArray) units = list_units(bus, error);
        const char *only = units ? find_unit(units, name) : NULL;

        if (!units || (only && !add(bus, only, all, error)))
                return NULL;
        for (guint i = 0; !only && i < units->len; i++) {
                g_autoptr(GError) failure = NULL;

                if (!add(bus, units->pdata[i], all, &failure))
                        log_warning("%s", failure->message);
        }
        return g_steal_pointer(&all);
}

const ContainerUnit *container_units_get(const GPtrArray *all, const char *name, GError **error) {
        const ContainerUnit *found = NULL;

        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];

                if (is_unit(container->unit, name))
                        return container;
                if (g_strcmp0(container->args->name, name) != 0)
                        continue;
                if (found) {
                        error_set(error, KT_ERROR_USAGE, "Two containers are called '%s': say %s or %s", name,
                                  found->unit, container->unit);
                        return NULL;
                }
                found = container;
        }
        if (found)
                return found;
        error_set(error, KT_ERROR_NOT_FOUND, "There is no container '%s'; see keyturnctl list", name);
        return NULL;
}

void boot_times_read(sd_bus *bus, BootTimes *ret) {
        *ret = (BootTimes) {
                .userspace = get_number(bus, OBJECT, INTERFACE, "UserspaceTimestampMonotonic", 't'),
                .finish = get_number(bus, OBJECT, INTERFACE, "FinishTimestampMonotonic", 't'),
        };
}
