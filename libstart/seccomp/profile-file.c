/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/string-order.h"
#include "libstart/config/small-file.h"
#include "libstart/config/toml.h"
#include "libstart/seccomp/profile-file.h"

#define CONF_VENDOR "/usr/share/containers/containers.conf"
#define CONF_ADMIN "/etc/containers/containers.conf"
#define CONF_DROPINS "/etc/containers/containers.conf.d"

#define PROFILE_ADMIN "/etc/containers/seccomp.json"
#define PROFILE_VENDOR "/usr/share/containers/seccomp.json"

/* Replaces *profile if this file sets it. A file that is not there sets nothing. */
static bool read_conf(const char *root, const char *name, char **profile, GError **error) {
        g_autofree char *path = g_strconcat(root, name, NULL), *text = NULL;
        gsize length;

        if (!file_read(path, &text, &length, error))
                return false;
        if (!text)
                return true;
        g_autoptr(TomlValue) top = toml_parse(text, length, name, error);
        if (!top)
                return false;
        const TomlValue *value = toml_get(toml_get(top, "containers"), "seccomp_profile");
        if (!value)
                return true;
        if (value->type != TOML_STRING)
                return error_set(error, KT_ERROR_FAILED, "%s:%u: 'seccomp_profile' is no string", name, value->line);
        if (value->string[0] && value->string[0] != '/' && !g_str_equal(value->string, "unconfined"))
                return error_set(error, KT_ERROR_FAILED, "%s:%u: the seccomp profile '%s' is no absolute path", name,
                                 value->line, value->string);
        g_free(*profile);
        *profile = g_strdup(value->string);
        return true;
}

/* Every containers.conf, in the order in which they count: vendor's, administrator's, drop-ins by name. */
static GPtrArray *list_confs(const char *root, GError **error) {
        g_autofree char *path = g_strconcat(root, CONF_DROPINS, NULL);
        g_auto(GStrv) entries = directory_list(path, error);
        GPtrArray *names;

        if (!entries)
                return NULL;
        names = g_ptr_array_new_with_free_func(g_free);
        for (char **entry = entries; *entry; entry++)
                if (g_str_has_suffix(*entry, ".conf"))
                        g_ptr_array_add(names, g_strconcat(CONF_DROPINS "/", *entry, NULL));
        g_ptr_array_sort(names, string_order);
        g_ptr_array_insert(names, 0, g_strdup(CONF_VENDOR));
        g_ptr_array_insert(names, 1, g_strdup(CONF_ADMIN));
        return names;
}

/* What containers.conf sets, "" or NULL for nothing. */
static bool read_confs(const char *root, char **profile, GError **error) {
        g_autoptr(GPtrArray) names = list_confs(root, error);

        if (!names)
                return false;
        for (guint i = 0; i < names->len; i++)
                if (!read_conf(root, names->pdata[i], profile, error))
                        return false;
        return true;
}

GPtrArray *seccomp_default_profile_sources(const char *root, GError **error) {
        GPtrArray *names = list_confs(root, error);

        if (!names)
                return NULL;
        g_ptr_array_add(names, g_strdup(CONF_DROPINS));
        g_ptr_array_add(names, g_strdup(PROFILE_ADMIN));
        g_ptr_array_add(names, g_strdup(PROFILE_VENDOR));
        return names;
}

/* Only a file that is certainly not there lets the search go on: one that cannot be reached is an error. */
static bool exists(const char *root, const char *name, bool *ret_exists, GError **error) {
        g_autofree char *path = g_strconcat(root, name, NULL);

        *ret_exists = access(path, F_OK) == 0;
        if (!*ret_exists && errno != ENOENT && errno != ENOTDIR)
                return error_set_errno(error, errno, "Cannot look for '%s'", name);
        return true;
}

char *seccomp_default_profile_path(const char *root, GError **error) {
        static const char *const names[] = { PROFILE_ADMIN, PROFILE_VENDOR };
        g_autofree char *profile = NULL;
        bool found;

        if (!read_confs(root, &profile, error))
                return error_prefix_null(error, "Cannot find out the default seccomp profile: ");
        if (g_strcmp0(profile, "unconfined") == 0)
                return error_null(
                        error, KT_ERROR_UNSUPPORTED,
                        "containers.conf says seccomp_profile = \"unconfined\": keyturn gives up the filter only "
                        "for a container whose own file says SeccompProfile=unconfined");
        if (profile && profile[0])
                return g_steal_pointer(&profile);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                if (!exists(root, names[i], &found, error))
                        return NULL;
                if (found)
                        return g_strdup(names[i]);
        }
        return error_null(error, KT_ERROR_NOT_FOUND,
                          "There is no seccomp profile: neither containers.conf names one nor is there '%s' or '%s'; "
                          "install containers-common (on Debian: golang-github-containers-common), or say "
                          "SeccompProfile=unconfined if no filter is wanted",
                          PROFILE_ADMIN, PROFILE_VENDOR);
}

GBytes *seccomp_profile_read(const char *root, const char *path, GError **error) {
        g_autofree char *full = g_strconcat(root, path, NULL);
        g_autofree char *name = g_strdup_printf("seccomp profile '%s'", path);
        _cleanup_close_ int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;
        char *text;

        if (fd < 0)
                error_set_errno(error, errno, "Cannot open %s", name);
        else if (file_read_fd(fd, name, SECCOMP_PROFILE_MAX_BYTES, &text, &st, error))
                return g_bytes_new_take(text, (gsize) st.st_size);
        return NULL;
}

SeccompProfile *seccomp_profile_load(const char *root, const char *path, GError **error) {
        g_autoptr(GBytes) text = seccomp_profile_read(root, path, error);
        SeccompProfile *profile = NULL;

        if (text && !(profile = seccomp_profile_parse(g_bytes_get_data(text, NULL), g_bytes_get_size(text), error)))
                g_prefix_error(error, "seccomp profile '%s': ", path);
        return profile;
}
