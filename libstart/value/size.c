/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/size.h"

static const char units[] = "kmgtp"; /* each 1024 times the one before it */

/* The power of two that the unit stands for; -1 if it is none. */
static int parse_unit(const char *unit) {
        int shift = 0;
        const char *known;

        if (*unit == ' ')
                unit++;
        if (*unit && (known = strchr(units, g_ascii_tolower(*unit)))) {
                shift = 10 * (int) (known - units + 1);
                unit++;
                if (g_ascii_tolower(*unit) == 'i' && g_ascii_tolower(unit[1]) == 'b')
                        unit++;
        }
        if (g_ascii_tolower(*unit) == 'b')
                unit++;
        return *unit ? -1 : shift;
}

bool size_parse(const char *value, guint64 *ret_bytes, GError **error) {
        size_t digits = strspn(value, "0123456789"), length = digits;

        if (value[length] == '.')
                length += 1 + strspn(value + length + 1, "0123456789");

        int shift = parse_unit(value + length);
        if (digits == 0 || shift < 0)
                return error_set(error, KT_ERROR_USAGE, "'%s' is no size: write bytes, or a number with k, m or g",
                                 value);

        g_autofree char *number = g_strndup(value, length);
        double bytes = g_ascii_strtod(number, NULL) * (double) (G_GUINT64_CONSTANT(1) << shift);
        if (bytes >= (double) G_MAXINT64)
                return error_set(error, KT_ERROR_USAGE, "size '%s' is too large", value);
        *ret_bytes = (guint64) bytes;
        return true;
}
