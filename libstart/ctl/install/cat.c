/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/container/bus.h"
#include "libstart/ctl/install/commands.h"

/* The first lines of a unit that the generator has made: the file, and its drop-ins. */
static const char *const origins[] = { "# Made by keyturn-generator from ", "# with " };

static bool print_file(const char *path, GError **error) {
        g_autofree char *text = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        printable_print("# %s\n%s\n", path, text ?: "# (it is gone)\n");
        return true;
}

static bool print_origins(const char *unit_text, GError **error) {
        g_auto(GStrv) lines = g_strsplit(unit_text, "\n", -1);

        for (char **line = lines; *line && (*line)[0] == '#'; line++)
                for (size_t i = 0; i < G_N_ELEMENTS(origins); i++)
                        if (g_str_has_prefix(*line, origins[i]) && !print_file(*line + strlen(origins[i]), error))
                                return false;
        return true;
}

/* Where systemd has the unit from; "" where it has none. Transfer full. */
static char *find_fragment(sd_bus *bus, const char *unit) {
        g_autofree char *path = NULL;
        char *fragment = NULL;

        if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path) < 0 ||
            sd_bus_get_property_string(bus, "org.freedesktop.systemd1", path, "org.freedesktop.systemd1.Unit",
                                       "FragmentPath", NULL, &fragment) < 0)
                return g_strdup("");
        return fragment;
}

/* A service by its name, of a pod or a volume, too, else that of the container. Transfer full. */
static char *find_unit(sd_bus *bus, const char *name, char **ret_fragment, GError **error) {
        g_autofree char *unit = strchr(name, '.') ? g_strdup(name) : g_strconcat(name, ".service", NULL);
        g_autoptr(GPtrArray) all = NULL;
        const ContainerUnit *container;

        *ret_fragment = find_fragment(bus, unit);
        if ((*ret_fragment)[0])
                return g_steal_pointer(&unit);
        all = container_units_find(bus, NULL, error);
        container = all ? container_units_get(all, name, error) : NULL;
        if (!container)
                return NULL;
        g_free(*ret_fragment);
        *ret_fragment = find_fragment(bus, container->unit);
        return g_strdup(container->unit);
}

static bool print_all(const char *name, GError **error) {
        sd_bus *bus = bus_open(error);
        g_autofree char *fragment = NULL, *unit = bus ? find_unit(bus, name, &fragment, error) : NULL, *text = NULL;

        if (bus)
                sd_bus_flush_close_unref(bus);
        if (!unit || !file_read(fragment, &text, NULL, error) || !print_origins(text ?: "", error))
                return false;
        fflush(stdout);
        (void) execlp("systemctl", "systemctl", "--no-pager", "cat", "--", unit, NULL);
        return error_set_errno(error, errno, "Cannot execute systemctl");
}

int command_cat(G_GNUC_UNUSED const GPtrArray *all, G_GNUC_UNUSED const Options *options, char **words,
                GError **error) {
        if (words[0] && !words[1])
                return print_all(words[0], error) ? 0 : -1;
        error_set(error, KT_ERROR_USAGE, "'cat' takes one container, or another service that keyturn has made");
        return -1;
}
