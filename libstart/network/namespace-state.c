/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/namespace.h"
#include "libstart/value/names.h"

bool namespace_name_check(const char *unit, GError **error) {
        return g_str_equal(unit, USER_BRIDGES) || name_check_container(unit, error);
}

/* NULL: inside, or there is no outside. */
static char *outside;

void namespace_state_go_outside(void) {
        outside = g_build_filename(g_getenv("XDG_RUNTIME_DIR") ?: "/", "keyturn", NULL);
}

const char *namespace_state_run(void) {
        return outside ?: PATH_RUN;
}

char *namespace_state_path(const char *unit, const char *file) {
        return g_build_filename(namespace_state_run(), NAME_NETWORK, unit, file, NULL);
}

char **namespace_state_list(GError **error) {
        g_autofree char *path = g_build_filename(namespace_state_run(), NAME_NETWORK, NULL);
        g_auto(GStrv) names = directory_list(path, error);
        g_autoptr(GStrvBuilder) units = names ? g_strv_builder_new() : NULL;

        for (char **name = names; name && *name; name++)
                if (name_check_container(*name, NULL))
                        g_strv_builder_add(units, *name);
        return units ? g_strv_builder_end(units) : NULL;
}

bool namespace_state_read(const char *unit, const char *file, char **ret, GError **error) {
        g_autofree char *path = namespace_state_path(unit, file);

        return file_read(path, ret, NULL, error);
}

bool namespace_state_has(const char *unit, const char *file) {
        g_autofree char *path = namespace_state_path(unit, file);

        return access(path, F_OK) == 0;
}

bool namespace_state_lacks(const char *unit, const char *file) {
        g_autofree char *path = namespace_state_path(unit, file);

        return access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool namespace_state_is_whole(const char *unit) {
        return namespace_state_has(unit, STATE_NAMES) && !namespace_state_has(unit, STATE_GOING) &&
               !namespace_state_has(unit, STATE_RELOADING);
}

bool namespace_state_is_lost(const char *unit) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS);
        _cleanup_close_ int namespace = namespace_open(pin);

        return namespace < 0 && namespace_state_has(unit, STATE_NETNS) && namespace_state_has(unit, STATE_NAMES);
}

bool namespace_state_read_summary(const char *unit, SetupSummary **ret, GError **error) {
        g_autofree char *text = NULL;

        *ret = NULL;
        if (!namespace_state_read(unit, STATE_SETUP, &text, error))
                return false;
        if (text)
                *ret = netavark_parse_setup(text, strlen(text), NULL);
        return true;
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

bool namespace_state_remove(const char *unit, GError **error) {
        g_autofree char *directory = namespace_state_path(unit, NULL),
                        *setup = namespace_state_path(unit, STATE_SETUP);
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS);

        /* Outside it is a file with nothing mounted on it. */
        if ((!outside && !namespace_unpin(pin, error)) || !directory_remove_files(directory, STATE_SETUP, error))
                return false;
        if (unlink(setup) < 0 && errno != ENOENT)
                return error_set_errno(error, errno, "Cannot remove '%s'", setup);
        return rmdir(directory) == 0 || errno == ENOENT ||
               error_set_errno(error, errno, "Cannot remove '%s'", directory);
}
