/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/log-option.h"

static bool refuse_driver(const char *value, GError **error) {
        static const char *const others[] = { "k8s-file", "json-file", "passthrough-tty", NULL };

        if (g_strv_contains(others, value))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "log driver '%s' is not supported: use journald or passthrough", value);
        return error_set(error, KT_ERROR_USAGE, "there is no log driver '%s': use journald, passthrough or none",
                         value);
}

bool log_driver_parse(const char *value, LogDriver *ret, GError **error) {
        if (g_str_equal(value, "journald"))
                *ret = LOG_DRIVER_JOURNALD;
        else if (g_str_equal(value, "passthrough"))
                *ret = LOG_DRIVER_PASSTHROUGH;
        else if (g_str_equal(value, "none"))
                *ret = LOG_DRIVER_NONE;
        else
                return refuse_driver(value, error);
        return true;
}

static bool parse_path(const char *value, const char **ret_path, GError **error) {
        const char *path = value + strlen("path=");

        if (!path_value_check(path, error))
                return error_prefix(error, "log option 'path=': ");
        *ret_path = path;
        return true;
}

bool log_option_parse(const char *value, const char **ret_tag, const char **ret_path, GError **error) {
        if (g_str_has_prefix(value, "path="))
                return parse_path(value, ret_path, error);
        if (!g_str_has_prefix(value, "tag="))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "log option '%s' is not supported: there are tag=NAME and path=FILE", value);
        if (strstr(value, "{{"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "log option '%s': templates are not supported; systemd's specifiers are (%%N, %%i)",
                                 value);
        if (value[strlen("tag=")] == '\0')
                return error_set(error, KT_ERROR_USAGE, "log option 'tag=': the name is missing");
        *ret_tag = value + strlen("tag=");
        return true;
}
