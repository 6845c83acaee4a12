/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/ctl/install/application.h"
#include "libstart/ctl/install/commands.h"
#include "libstart/table/table.h"

/* What runs of it is stopped, if that is asked for. *ret_stopped: its units, transfer full. */
static bool stop(const char *path, bool is_forced, char **ret_stopped, GError **error) {
        g_auto(GStrv) units = application_find_units(path, true);

        *ret_stopped = table_join(units, g_strv_length(units));
        if (units[0] && !is_forced)
                return error_set(error, KT_ERROR_FAILED, "%s runs: stop it, or write --force, which does", units[0]);
        return !units[0] || application_systemctl("stop", units, error);
}

/* files, stopped: taken over. */
static void print_json(const char *name, const char *path, char *files, char *stopped, bool is_left) {
        static const char *const columns[] = { "APPLICATION", "DIRECTORY", "@FILES", "@STOPPED", "LEFT", NULL };
        g_autoptr(Table) table = table_new(columns);

        table_add(table, g_strdup(name), g_strdup(path), files, stopped, g_strdup(is_left ? "yes" : "no"));
        table_print(table, true);
}

static bool uninstall(const char *name, const Options *options, GError **error) {
        g_autofree char *path = g_build_filename(APPLICATIONS, name, NULL),
                        *list = g_build_filename(path, APPLICATION_LIST, NULL), *stopped = NULL;
        g_autoptr(GPtrArray) files = NULL;
        bool is_left;

        if (!application_check_name(name, error))
                return false;
        if (!g_file_test(list, G_FILE_TEST_IS_REGULAR))
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 g_file_test(path, G_FILE_TEST_EXISTS) ?
                                         "'%s' was not installed by keyturnctl install: remove the files by hand, "
                                         "and reload" :
                                         "There is no '%s'",
                                 path);
        files = application_list(path, error);
        if (!files || !stop(path, options->force, &stopped, error) || !application_remove(path, files, error) ||
            !application_systemctl("daemon-reload", NULL, error))
                return false;
        is_left = !application_forget(path);
        if (options->json) {
                print_json(name, path, table_join((char **) files->pdata, files->len), g_steal_pointer(&stopped),
                           is_left);
                return true;
        }
        printable_print("Removed %s. Volumes, images and secrets stay.\n", path);
        if (is_left)
                printable_print("In '%s' are files that others have put there; they stay.\n", path);
        return true;
}

int command_uninstall(G_GNUC_UNUSED const GPtrArray *all, const Options *options, char **words, GError **error) {
        if (words[0])
                return uninstall(words[0], options, error) ? 0 : -1;
        return error_negative(error, KT_ERROR_USAGE,
                              "'uninstall' takes the name of one application: a directory in %s", APPLICATIONS);
}
