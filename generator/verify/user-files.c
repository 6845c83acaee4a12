/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "generator/verify/user-files.h"
#include "libstart/base/string-prefix.h"

/* podman-systemd.unit(5). $XDG_CONFIG_HOME can name another one, which is asked of the caller's environment. */
static const char *const directories[] = {
        "/etc/containers/systemd/users/",
        "/usr/share/containers/systemd/users/",
        NULL,
};

/* "/run/user/1000/containers/systemd/": users' own, until they log out. */
static bool is_runtime(const char *path) {
        static const char start[] = "/run/user/";
        size_t digits;

        if (!g_str_has_prefix(path, start))
                return false;
        path += strlen(start);
        digits = strspn(path, "0123456789");
        return digits > 0 && g_str_has_prefix(path + digits, "/containers/systemd/");
}

bool user_file_is(const char *path) {
        g_autofree char *own = g_build_filename(g_get_user_config_dir(), "containers/systemd/", NULL);

        return string_prefix(path, directories) || is_runtime(path) || strstr(path, "/.config/containers/systemd/") ||
               g_str_has_prefix(path, own);
}
