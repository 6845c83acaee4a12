/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/container/container-units.h"
#include "libstart/ctl/container/unit-properties.h"
#include "libstart/ctl/install/commands.h"
#include "libstart/table/table.h"

/* The first lines of a unit that the generator has made: the file, and its drop-ins. */
static const char *const origins[] = { "# Made by keyturn-generator from ", "# with " };

/* To the table, if there is one. */
static bool print_file(const char *path, Table *table, GError **error) {
        g_autofree char *text = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        if (table)
                table_add(table, g_strdup(path), g_steal_pointer(&text));
        else
                printable_print("# %s\n%s\n", path, text ?: "# (it is gone)\n");
        return true;
}

static bool print_origins(const char *unit_text, Table *table, GError **error) {
        g_auto(GStrv) lines = g_strsplit(unit_text, "\n", -1);

        for (char **line = lines; *line && (*line)[0] == '#'; line++)
                for (size_t i = 0; i < G_N_ELEMENTS(origins); i++)
                        if (g_str_has_prefix(*line, origins[i]) &&
                            !print_file(*line + strlen(origins[i]), table, error))
                                return false;
        return true;
}

/* Where systemd has the unit from; "" where it has none. Transfer full. */
static char *find_fragment(sd_bus *bus, const char *unit) {
        g_autofree char *path = unit_load(bus, unit, NULL);

        return path ? unit_string(bus, path, BUS_UNIT, "FragmentPath") : g_strdup("");
}

/* A service by its name, of a pod or a volume, too, else that of the container. Transfer full. */
static char *find_unit(sd_bus *bus, const char *name, char **ret_fragment, GError **error) {
        g_autofree char *unit = strchr(name, '.') ? g_strdup(name) : g_strconcat(name, ".service", NULL);
        g_autoptr(GPtrArray) all = NULL;
        const ContainerUnit *container;

        *ret_fragment = find_fragment(bus, unit);
        if ((*ret_fragment)[0])
                return g_steal_pointer(&unit);
        all = container_units_find(NULL, error);
        container = all ? container_units_get(all, name, error) : NULL;
        if (!container)
                return NULL;
        g_free(*ret_fragment);
        *ret_fragment = find_fragment(bus, container->unit);
        return g_strdup(container->unit);
}

/* The unit, and its drop-ins, in the order in which systemd reads them. */
static bool print_json(const char *unit_text, const char *fragment, char *const *dropins, GError **error) {
        static const char *const columns[] = { "FILE", "TEXT", NULL };
        g_autoptr(Table) table = table_new(columns);

        if (!print_origins(unit_text, table, error) || !print_file(fragment, table, error))
                return false;
        for (; *dropins; dropins++)
                if (!print_file(*dropins, table, error))
                        return false;
        table_print(table, true);
        return true;
}

static bool print_all(const char *name, bool json, GError **error) {
        g_autoptr(sd_bus) bus = bus_open(error);
        g_autofree char *fragment = NULL, *unit = bus ? find_unit(bus, name, &fragment, error) : NULL, *text = NULL,
                        *path = unit ? unit_load(bus, unit, error) : NULL;
        g_auto(GStrv) dropins = path ? unit_strings(bus, path, BUS_UNIT, "DropInPaths") : NULL;

        if (!path || !file_read(fragment, &text, NULL, error))
                return false;
        if (json)
                return print_json(text ?: "", fragment, dropins, error);
        if (!print_origins(text ?: "", NULL, error))
                return false;
        if (!printable_flush(error))
                return false;
        (void) execlp("systemctl", "systemctl", "--no-pager", "cat", "--", unit, NULL);
        return error_set_errno(error, errno, "Cannot execute systemctl");
}

int command_cat(G_GNUC_UNUSED const GPtrArray *all, const Options *options, char **words, GError **error) {
        if (words[0])
                return print_all(words[0], options->json, error) ? 0 : -1;
        return error_negative(error, KT_ERROR_USAGE,
                              "'cat' takes one container, or another service that keyturn has made");
}
