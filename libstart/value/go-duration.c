/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/go-duration.h"

static const struct {
        const char *name;
        double usec;
} units[] = {
        { "ns", 1e-3 }, { "us", 1 },  { "µs", 1 },   { "μs", 1 }, /* either letter that looks like it */
        { "ms", 1e3 },  { "s", 1e6 }, { "m", 60e6 }, { "h", 3600e6 },
};

/* Moves *text behind a number and its unit. Negative: there is none. */
static double read_part(const char **text) {
        size_t digits = strspn(*text, "0123456789."), length;
        g_autofree char *number = g_strndup(*text, digits);
        const char *unit = *text + digits, *dot = strchr(number, '.');

        if (digits == 0 || g_str_equal(number, ".") || (dot && strchr(dot + 1, '.')))
                return -1;
        length = strcspn(unit, "0123456789.");
        for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
                if (strlen(units[i].name) == length && strncmp(unit, units[i].name, length) == 0) {
                        *text = unit + length;
                        return g_ascii_strtod(number, NULL) * units[i].usec;
                }
        return -1;
}

/* Go counts nanoseconds in 63 bits. */
#define USEC_MAX 9223372036854775.0

bool go_duration_parse(const char *text, guint64 *ret_usec, GError **error) {
        const char *rest = text + (*text == '+');
        double sum = 0, part = 0;

        if (g_str_equal(rest, "0")) {
                *ret_usec = 0;
                return true;
        }
        while (*rest && (part = read_part(&rest)) >= 0)
                sum += part;
        if (rest == text + (*text == '+') || part < 0 || sum > USEC_MAX)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no span of time: write one as in 30s, 500ms or 1m30s", text);
        *ret_usec = (guint64) ceil(sum);
        return true;
}
