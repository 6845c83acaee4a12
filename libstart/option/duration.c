/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/option/duration.h"

/* Longer units first: "m" begins "ms", too. */
static const struct {
        const char *name;
        double usec;
} units[] = {
        { "ns", 1e-3 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { "m", 60e6 }, { "h", 3600e6 },
};

/* The end of one number with its unit, or NULL. */
static const char *read_part(const char *part, double *sum) {
        size_t digits = strspn(part, "0123456789"), length = digits;

        if (part[length] == '.')
                length += 1 + strspn(part + length + 1, "0123456789");
        if (digits == 0)
                return NULL;

        g_autofree char *number = g_strndup(part, length);
        for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
                if (g_str_has_prefix(part + length, units[i].name)) {
                        *sum += g_ascii_strtod(number, NULL) * units[i].usec;
                        return part + length + strlen(units[i].name);
                }
        return NULL;
}

bool duration_parse(const char *value, guint64 *ret_usec, GError **error) {
        const char *rest = value;
        double sum = 0;

        if (g_str_equal(value, "0")) {
                *ret_usec = 0;
                return true;
        }
        do
                rest = read_part(rest, &sum);
        while (rest && *rest);
        if (!rest || sum >= (double) G_MAXINT64)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no time: write a number with ms, s, m or h, as in '30s'", value);
        *ret_usec = (guint64) sum;
        return true;
}
