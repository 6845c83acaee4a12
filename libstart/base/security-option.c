/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/security-option.h"

static bool parse_no_new_privileges(const char *value, SecurityOption *option, GError **error) {
        static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True", NULL };
        static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False", NULL };

        option->kind = SECURITY_NO_NEW_PRIVILEGES;
        option->enabled = !value || g_strv_contains(yes, value);
        if (!option->enabled && !g_strv_contains(no, value))
                return error_set(error, KT_ERROR_USAGE, "'no-new-privileges=%s' is neither true nor false",
                                 value);
        return true;
}

static bool parse_seccomp(const char *value, SecurityOption *option, GError **error) {
        if (!value || (value[0] != '/' && !g_str_equal(value, "unconfined")))
                return error_set(error, KT_ERROR_USAGE,
                                 "seccomp needs the absolute path of a profile, or unconfined");
        option->kind = SECURITY_SECCOMP;
        option->enabled = value[0] == '/';
        option->profile = option->enabled ? value : NULL;
        return true;
}

bool security_option_parse(const char *value, SecurityOption *ret, GError **error) {
        size_t length = strcspn(value, strchr(value, '=') ? "=" : ":");
        const char *argument = value[length] ? value + length + 1 : NULL;
        g_autofree char *name = g_strndup(value, length);
        SecurityOption option = { 0 };
        bool ok;

        if (g_str_equal(name, "no-new-privileges"))
                ok = parse_no_new_privileges(argument, &option, error);
        else if (g_str_equal(name, "seccomp"))
                ok = parse_seccomp(argument, &option, error);
        else
                ok = error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "security option '%s' is not supported: there are no-new-privileges and seccomp",
                        name);
        if (ok)
                *ret = option;
        return ok;
}
