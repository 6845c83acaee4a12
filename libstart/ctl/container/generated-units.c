/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/string-order.h"
#include "libstart/ctl/container/generated-units.h"
#include "libstart/ctl/container/unit-properties.h"

static const char *const generator_dirs[] = {
        "/run/systemd/generator.early",
        "/run/systemd/generator",
        "/run/systemd/generator.late",
};

/* Any other generator's services are in the same directories. */
static bool is_wanted(const char *path, const char *const *commands) {
        g_autofree char *text = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return false;
        for (; *commands; commands++)
                if (strstr(text, *commands))
                        return true;
        return false;
}

static void add_directory(const char *path, const char *const *commands, GPtrArray *names) {
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *file = g_build_filename(path, name, NULL);

                if (g_str_has_suffix(name, ".service") && is_wanted(file, commands))
                        g_ptr_array_add(names, g_strdup(name));
        }
}

/* The instances that systemd has loaded, in the place of a template. */
static bool add_instances(sd_bus *bus, const char *template, GPtrArray *names, GError **error) {
        g_autofree char *stem = g_strndup(template, strlen(template) - strlen(".service"));
        g_autofree char *pattern = g_strconcat(stem, "*.service", NULL);
        g_auto(sd_bus_error) bus_error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        const char *name;
        int r = sd_bus_call_method(bus, BUS_SYSTEMD, BUS_OBJECT, BUS_MANAGER, "ListUnitsByPatterns", &bus_error,
                                   &reply, "asas", 0, 1, pattern);

        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
        while (r >= 0 && (r = sd_bus_message_read(reply, "(ssssssouso)", &name, NULL, NULL, NULL, NULL, NULL, NULL,
                                                  NULL, NULL, NULL)) > 0)
                g_ptr_array_add(names, g_strdup(name));
        return r >= 0 || bus_fail(r, &bus_error, "ask systemd for its units", error);
}

/* Those that were made when the system image was built (generator/system-image.h). One that the generator has made
 * anew is there already. */
static void add_image_units(const char *const *commands, GPtrArray *names) {
        g_autofree char *text = NULL;

        if (!g_file_get_contents(KEYTURN_LIBDIR "/image-units", &text, NULL, NULL))
                return;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                g_autofree char *path = g_build_filename(KEYTURN_UNITDIR, *line, NULL);

                if (g_str_has_suffix(*line, ".service") && !strchr(*line, '/') && is_wanted(path, commands) &&
                    !g_ptr_array_find_with_equal_func(names, *line, g_str_equal, NULL))
                        g_ptr_array_add(names, g_strdup(*line));
        }
}

/* Templates are among them. */
static GPtrArray *find_files(const char *const *words) {
        GPtrArray *files = g_ptr_array_new_with_free_func(g_free);

        for (size_t i = 0; i < G_N_ELEMENTS(generator_dirs); i++)
                add_directory(generator_dirs[i], words, files);
        add_image_units(words, files);
        return files;
}

bool generated_units_have_template(const char *word) {
        g_autoptr(GPtrArray) files = find_files((const char *const[]) { word, NULL });

        for (guint i = 0; i < files->len; i++)
                if (g_str_has_suffix(files->pdata[i], "@.service"))
                        return true;
        return false;
}

GPtrArray *generated_units_list(sd_bus *bus, const char *const *commands, GError **error) {
        g_autoptr(GPtrArray) files = find_files(commands), units = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < files->len; i++) {
                const char *name = files->pdata[i];

                if (!g_str_has_suffix(name, "@.service"))
                        g_ptr_array_add(units, g_strdup(name));
                else if (!add_instances(bus, name, units, error))
                        return NULL;
        }
        g_ptr_array_sort(units, string_order);
        return g_steal_pointer(&units);
}
