/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/device-request.h"
#include "libstart/request/device-rule.h"

static bool parse_number(const char *text, gint64 *ret) {
        guint64 number = 0;

        if (g_str_equal(text, "*")) {
                *ret = DEVICE_RULE_ALL;
                return true;
        }
        if (!g_ascii_string_to_unsigned(text, 10, 0, DEVICE_NUMBER_MAX, &number, NULL))
                return false;
        *ret = (gint64) number;
        return true;
}

bool device_rule_parse(const char *value, DeviceRule *ret, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, " ", -1);
        g_auto(GStrv) numbers = g_strv_length(parts) == 3 ? g_strsplit(parts[1], ":", -1) : NULL;
        DeviceRule rule = { 0 };

        if (!numbers || g_strv_length(numbers) != 2 || strlen(parts[0]) != 1 || !strchr("abc", parts[0][0]) ||
            !parse_number(numbers[0], &rule.major) || !parse_number(numbers[1], &rule.minor) ||
            !device_access_parse(parts[2], rule.access))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "device rule '%s': the form is TYPE MAJOR:MINOR ACCESS: a, b or c, two numbers or *, "
                        "and some of r, w and m",
                        value);
        rule.type = parts[0][0];
        *ret = rule;
        return true;
}
