/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/ctl/container/bus.h"
#include "libstart/ctl/install/application.h"
#include "libstart/ctl/install/commands.h"

/* What runs of it is stopped, if that is asked for. */
static bool stop(const char *path, bool is_forced, GError **error) {
        sd_bus *bus = bus_open(NULL);
        g_autoptr(GPtrArray) all = bus ? container_units_find(bus, NULL, NULL) : NULL, units = NULL;

        if (bus)
                sd_bus_flush_close_unref(bus);
        units = all ? application_find_units(path, all, true) : g_ptr_array_new();
        if (units->len > 0 && !is_forced)
                return error_set(error, KT_ERROR_FAILED, "%s runs: stop it, or write --force, which does",
                                 (const char *) units->pdata[0]);
        return units->len == 0 || application_systemctl("stop", units, error);
}

static bool uninstall(const char *name, const Options *options, GError **error) {
        g_autofree char *path = application_path(name), *list = g_build_filename(path, APPLICATION_LIST, NULL);
        bool is_left;

        if (!application_check_name(name, error))
                return false;
        if (!g_file_test(list, G_FILE_TEST_IS_REGULAR))
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "'%s' was not installed by keyturnctl install: remove the files by hand, and reload",
                                 path);
        if (!stop(path, options->force, error) || !application_remove(path, &is_left, error) ||
            !application_systemctl("daemon-reload", NULL, error))
                return false;
        printable_print("Removed %s. Volumes, images and secrets stay.\n", path);
        if (is_left)
                printable_print("In '%s' are files that others have put there; they stay.\n", path);
        return true;
}

int command_uninstall(G_GNUC_UNUSED const GPtrArray *all, const Options *options, char **words, GError **error) {
        if (words[0] && !words[1])
                return uninstall(words[0], options, error) ? 0 : -1;
        error_set(error, KT_ERROR_USAGE, "'uninstall' takes the name of one application: a directory in %s",
                  APPLICATIONS);
        return -1;
}
