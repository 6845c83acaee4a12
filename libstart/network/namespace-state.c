/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/namespace.h"
#include "libstart/value/names.h"

bool namespace_name_check(const char *unit, GError **error) {
        return name_check_container(unit, error);
}

char *namespace_state_path(const char *unit, const char *file) {
        return g_build_filename(PATH_NETWORK, unit, file, NULL);
}

GPtrArray *namespace_state_list(void) {
        GPtrArray *units = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(PATH_NETWORK, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (namespace_name_check(name, NULL))
                        g_ptr_array_add(units, g_strdup(name));
        return units;
}

char *namespace_state_read(const char *unit, const char *file, gsize *ret_length) {
        g_autofree char *path = namespace_state_path(unit, file);
        char *text = NULL;

        return file_read(path, &text, ret_length, NULL) ? text : NULL;
}

bool namespace_state_has(const char *unit, const char *file) {
        g_autofree char *path = namespace_state_path(unit, file);

        return access(path, F_OK) == 0;
}

bool namespace_state_is_whole(const char *unit) {
        return namespace_state_has(unit, STATE_NAMES) && !namespace_state_has(unit, STATE_GOING) &&
               !namespace_state_has(unit, STATE_RELOADING);
}

SetupSummary *namespace_state_read_summary(const char *unit) {
        gsize length = 0;
        g_autofree char *text = namespace_state_read(unit, STATE_SETUP, &length);

        return text ? netavark_parse_setup(text, length, NULL) : NULL;
}

bool namespace_state_make(const char *unit, GError **error) {
        g_autofree char *path = namespace_state_path(unit, NULL);

        return directory_make(path, 0755, error);
}

bool namespace_state_write(const char *unit, const char *file, const char *text, GError **error) {
        g_autofree char *path = namespace_state_path(unit, file);

        /* The directory is on a tmpfs: there is nothing to wait for. */
        return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);
}

/* A file that was being written when its writer was killed has a name that only GLib knows. */
static bool remove_files(const char *directory, GError **error) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                if (!g_str_equal(name, STATE_SETUP) && unlink(path) < 0 && errno != ENOENT)
                        return error_set_errno(error, errno, "Cannot remove '%s'", path);
        }
        return true;
}

bool namespace_state_remove(const char *unit, GError **error) {
        g_autofree char *directory = namespace_state_path(unit, NULL),
                        *setup = namespace_state_path(unit, STATE_SETUP);
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS);

        if (!namespace_unpin(pin, error) || !remove_files(directory, error))
                return false;
        if (unlink(setup) < 0 && errno != ENOENT)
                return error_set_errno(error, errno, "Cannot remove '%s'", setup);
        return rmdir(directory) == 0 || errno == ENOENT ||
               error_set_errno(error, errno, "Cannot remove '%s'", directory);
}
