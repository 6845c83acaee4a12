/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/systemd-mode.h"

bool systemd_mode_parse(const char *value, SystemdMode *ret, GError **error) {
        if (g_ascii_strcasecmp(value, "true") == 0 || value[0] == '\0')
                *ret = SYSTEMD_AUTO;
        else if (g_ascii_strcasecmp(value, "always") == 0)
                *ret = SYSTEMD_ALWAYS;
        else if (g_ascii_strcasecmp(value, "false") == 0)
                *ret = SYSTEMD_NEVER;
        else
                return error_set(error, KT_ERROR_USAGE, "there is no systemd mode '%s': use true, always or false",
                                 value);
        return true;
}

static bool is_init(const char *program) {
        static const char *const inits[] = { "/sbin/init", "/usr/sbin/init", "/usr/local/sbin/init", NULL };
        const char *slash = strrchr(program, '/');

        return g_strv_contains(inits, program) || g_str_equal(slash ? slash + 1 : program, "systemd");
}

bool systemd_mode_applies(SystemdMode mode, const char *const *words) {
        if (mode != SYSTEMD_AUTO || !words[0])
                return mode == SYSTEMD_ALWAYS;
        if (g_str_equal(words[0], "/bin/sh") && g_strcmp0(words[1], "-c") == 0 && words[2])
                words += 2;
        return is_init(words[0]);
}
