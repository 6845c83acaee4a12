/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/ctl/container/container-units.h"
#include "libstart/ctl/container/generated-units.h"
#include "libstart/ctl/container/unit-properties.h"

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

char *container_unit_print_logs(const ContainerUnit *container) {
        return g_strconcat(user_view_is_here() ? "keyturnctl --user logs " : "journalctl -u ", container->unit, NULL);
}

bool container_unit_is_started(const ContainerUnit *container) {
        g_autofree char *directory = container_unit_state_dir(container);
        g_autofree char *status = g_build_filename(directory, container->args->name, "status", NULL);

        return g_file_test(status, G_FILE_TEST_EXISTS);
}

/* Of a container that waits for its image: why that could not be brought, and when it is tried again. Transfer full;
 * NULL: it does not wait. */
static char *describe_image(sd_bus *bus, const char *unit) {
        g_autofree char *path = NULL, *result = NULL, *said = NULL, *state = NULL;
        guint64 next, now = (guint64) g_get_monotonic_time();

        if (sd_bus_path_encode(BUS_OBJECT "/unit",
                               g_str_has_prefix(unit, "always:") ? unit + strlen("always:") : unit, &path) < 0)
                return NULL;
        result = unit_string(bus, path, BUS_SERVICE, "Result");
        said = unit_string(bus, path, BUS_SERVICE, "StatusText");
        state = unit_string(bus, path, BUS_UNIT, "SubState");
        if (!result[0] || g_str_equal(result, "success"))
                return NULL;
        if (!g_str_equal(state, "auto-restart"))
                return g_strdup(said);
        next = unit_number(bus, path, BUS_UNIT, "StateChangeTimestampMonotonic", 't') +
               unit_number(bus, path, BUS_SERVICE, "RestartUSec", 't');
        return g_strdup_printf("%s; next try in %.0f s", said,
                               next > now ? (double) (next - now) / G_USEC_PER_SEC : 0.0);
}

/* A container is not started where a service that it requires has failed, as that of a volume: says which service,
 * and why. Transfer full; NULL: there is none. */
static char *describe_required(sd_bus *bus, const char *path) {
        g_auto(GStrv) required = unit_strings(bus, path, BUS_UNIT, "Requires");

        for (char **unit = required; *unit; unit++) {
                g_autofree char *other = NULL, *active = NULL, *said = NULL;

                if (!g_str_has_suffix(*unit, ".service") || sd_bus_path_encode(BUS_OBJECT "/unit", *unit, &other) < 0)
                        continue;
                active = unit_string(bus, other, BUS_UNIT, "ActiveState");
                said = unit_string(bus, other, BUS_SERVICE, "StatusText");
                if (g_str_equal(active, "failed"))
                        return g_strdup_printf("%s has failed%s%s", *unit, said[0] ? ": " : "", said);
        }
        return NULL;
}

/* more: NULL for nothing. */
static void add_to_state(ContainerUnit *container, const char *separator, const char *more) {
        g_autofree char *state = container->state;

        container->state = g_strconcat(state, more ? separator : NULL, more, NULL);
}

/* The words of the first ExecStart=, with variables that systemd expands only when it executes them; none where there
 * is none. */
static char **get_words(sd_bus *bus, const char *path, GError **error) {
        g_auto(sd_bus_error) bus_error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        char **words = NULL;
        int r = sd_bus_get_property(bus, BUS_SYSTEMD, path, BUS_SERVICE, "ExecStart", &bus_error, &reply,
                                    "a(sasbttttuii)");

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
                bus_fail(r, &bus_error, "read a unit's ExecStart=", error);
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

bool container_unit_read_words(ContainerUnit *container, char **words, GError **error) {
        char **arguments = find_arguments(words, &container->is_refused);

        if (!arguments)
                return true;
        container->args = launch_args_parse((const char *const *) arguments, error);
        return container->args &&
               (container->args->name || error_set(error, KT_ERROR_USAGE, "its ExecStart= has no --name"));
}

/* The name of the one that the start has left there. Transfer full; NULL: none. */
static char *find_started(const char *directory) {
        g_autoptr(GDir) entries = g_dir_open(directory, 0, NULL);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *status = g_build_filename(directory, entry, "status", NULL);

                if (g_file_test(status, G_FILE_TEST_EXISTS))
                        return g_strdup(entry);
        }
        return NULL;
}

/* In a name, too, systemd expands variables only then. */
static void find_started_name(ContainerUnit *container) {
        g_autofree char *directory = container_unit_state_dir(container),
                        *name = strchr(container->args->name, '$') ? find_started(directory) : NULL;

        if (!name)
                return;
        g_free(container->args->name);
        container->args->name = g_steal_pointer(&name);
}

/* A service that was masked while it ran: systemd knows no more of it than that it runs. A file may be called as a
 * directory of keyturn's own: then it has the other name. */
static void find_masked(sd_bus *bus, const char *path, ContainerUnit *container) {
        static const char *const prefixes[] = { "", "+" };
        g_autofree char *load = unit_string(bus, path, BUS_UNIT, "LoadState"),
                        *active = unit_string(bus, path, BUS_UNIT, "ActiveState");
        int stem = (int) (strlen(container->unit) - strlen(".service"));

        if (!g_str_equal(load, "masked") || !(g_str_equal(active, "active") || g_str_equal(active, "deactivating")))
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(prefixes) && !container->args; i++) {
                g_autofree char *directory = g_strdup_printf("%s/%s%.*s", PATH_RUN, prefixes[i], stem,
                                                             container->unit);
                g_autofree char *name = find_started(directory);

                if (!name)
                        continue;
                container->args = launch_args_new();
                container->args->name = g_steal_pointer(&name);
                container->args->state_dir = g_steal_pointer(&directory);
                container->args->image = g_strdup("?");
                container->is_refused = container->is_masked = true;
        }
}

static bool is_stopped(const ContainerUnit *container) {
        return g_str_equal(container->active, "inactive") || g_str_equal(container->active, "failed");
}

/* Leaves container->args NULL where the unit is no container. */
static bool read_unit(sd_bus *bus, const char *path, ContainerUnit *container, GError **error) {
        g_auto(GStrv) words = get_words(bus, path, error);
        g_autofree char *image = NULL, *required = NULL;
        guint64 pid, signal;

        if (!words || !container_unit_read_words(container, words, error))
                return false;
        if (!words[0])
                find_masked(bus, path, container);
        if (!container->args)
                return true;
        find_started_name(container);
        container->active = unit_string(bus, path, BUS_UNIT, "ActiveState");
        if (!container->active[0])
                return error_set(error, KT_ERROR_FAILED, "Cannot read a unit's ActiveState=");
        container->source = unit_string(bus, path, BUS_UNIT, "SourcePath");
        if (container->is_refused && !container->source[0] && is_stopped(container)) {
                g_clear_pointer(&container->args, launch_args_free); /* its file was deleted: that was all of it */
                return true;
        }
        container->state = service_state_describe(bus, path, container->active);
        if (container->args->image_unit && !g_str_equal(container->active, "active"))
                image = describe_image(bus, container->args->image_unit);
        if (is_stopped(container))
                required = describe_required(bus, path);
        add_to_state(container, ": ", image);
        add_to_state(container, ": ", required);
        if (container->is_refused)
                add_to_state(container, ", ",
                             container->is_masked ? "masked" :
                             container->source[0] ? "file refused" :
                                                    "file deleted");
        if (!unit_string_read(bus, path, BUS_SERVICE, "ControlGroup", &container->cgroup, error) ||
            !unit_number_read(bus, path, BUS_SERVICE, "MainPID", 'u', &pid, error) ||
            !unit_number_read(bus, path, BUS_SERVICE, "KillSignal", 'i', &signal, error) ||
            !unit_number_read(bus, path, BUS_SERVICE, "TimeoutStopUSec", 't', &container->stop_timeout, error))
                return false;
        container->pid = (guint32) pid;
        container->kill_signal = (int) signal;
        if (g_str_equal(container->active, "active") && container->pid > 0 && !container_unit_is_started(container))
                add_to_state(container, ", ", "started by Podman");
        container->since = unit_number(bus, path, BUS_UNIT, "StateChangeTimestamp", 't');
        container->begin = unit_number(bus, path, BUS_UNIT, "InactiveExitTimestampMonotonic", 't');
        container->end = unit_number(bus, path, BUS_UNIT, "ActiveEnterTimestampMonotonic", 't');
        container->start = container->end > container->begin ? container->end - container->begin : 0;
        container->main_start = unit_number(bus, path, BUS_SERVICE, "ExecMainStartTimestampMonotonic", 't');
        container->restarts = (guint32) unit_number(bus, path, BUS_SERVICE, "NRestarts", 'u');
        return true;
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
        g_autoptr(ContainerUnit) container = g_new0(ContainerUnit, 1);
        g_autofree char *path = unit_load(bus, unit, error);

        container->unit = g_strdup(unit);
        if (!path || !read_unit(bus, path, container, error))
                return error_prefix(error, "%s: ", unit);
        if (container->args)
                g_ptr_array_add(all, g_steal_pointer(&container));
        return true;
}

GPtrArray *container_units_find(const char *name, GError **error) {
        static const char *const commands[] = { "/libstart run ", "/libstart refuse ", NULL };
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify) container_unit_free);
        g_autoptr(sd_bus) bus = bus_open(error);
        g_autoptr(GPtrArray) units = bus ? generated_units_list(bus, commands, error) : NULL;
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

/* "web.container", or its path. */
static bool is_file(const ContainerUnit *container, const char *name) {
        const char *slash = container->source ? strrchr(container->source, '/') : NULL;

        return slash && (g_str_equal(slash + 1, name) || g_str_equal(container->source, name));
}

/* What else people call, who think of files. */
static bool fail_not_found(const char *name, GError **error) {
        static const struct {
                const char *ends, *advice;
        } others[] = {
                { " .pod -pod -pod.service ", "of pods, see keyturnctl pods" },
                { " .volume -volume -volume.service ", "of volumes, see keyturnctl volumes" },
                { " .network -network -network.service ", "of networks, see keyturnctl networks" },
                { " .image .build -image -build -image.service -build.service ", "of images, see keyturnctl images" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
                g_auto(GStrv) ends = g_strsplit(others[i].ends, " ", -1);

                for (char **end = ends; *end; end++)
                        if (**end && g_str_has_suffix(name, *end))
                                return error_set(error, KT_ERROR_NOT_FOUND, "There is no container '%s'; %s", name,
                                                 others[i].advice);
        }
        return error_set(error, KT_ERROR_NOT_FOUND, "There is no container '%s'; see %s", name,
                         user_view_is_here() ? "keyturnctl --user list" :
                         geteuid() != 0      ? "keyturnctl list, or keyturnctl --user list for your own" :
                                               "keyturnctl list");
}

const ContainerUnit *container_units_get(const GPtrArray *all, const char *name, GError **error) {
        const ContainerUnit *found = NULL;

        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];

                if (is_unit(container->unit, name))
                        return container;
                if (g_strcmp0(container->args->name, name) != 0 && !is_file(container, name))
                        continue;
                if (found)
                        return error_null(error, KT_ERROR_USAGE, "Two containers are called '%s': say %s or %s", name,
                                          found->unit, container->unit);
                found = container;
        }
        if (found)
                return found;
        (void) fail_not_found(name, error);
        return NULL;
}

bool boot_times_read(BootTimes *ret, GError **error) {
        g_autoptr(sd_bus) bus = bus_open(error);

        if (!bus)
                return false;
        *ret = (BootTimes) {
                .userspace = unit_number(bus, BUS_OBJECT, BUS_MANAGER, "UserspaceTimestampMonotonic", 't'),
                .finish = unit_number(bus, BUS_OBJECT, BUS_MANAGER, "FinishTimestampMonotonic", 't'),
        };
        return true;
}
