/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "libstart/kube/quantity.h"

bool quantity_parse(const char *text, guint64 *ret_thousandths) {
        static const struct {
                const char *suffix;
                double factor;
        } suffixes[] = { { "", 1e3 },
                         { "m", 1 },
                         { "k", 1e6 },
                         { "M", 1e9 },
                         { "G", 1e12 },
                         { "T", 1e15 },
                         { "Ki", 1024e3 },
                         { "Mi", 1048576e3 },
                         { "Gi", 1073741824e3 },
                         { "Ti", 1099511627776e3 } };
        double number;
        char *end;

        if (!g_ascii_isdigit(text[0]) && text[0] != '.')
                return false;
        if (text[0] == '0' && g_ascii_tolower(text[1]) == 'x')
                return false;
        number = g_ascii_strtod(text, &end);
        for (size_t i = 0; end != text && i < G_N_ELEMENTS(suffixes); i++)
                if (g_str_equal(end, suffixes[i].suffix)) {
                        number = ceil(number * suffixes[i].factor);
                        *ret_thousandths = number < 9e18 ? (guint64) number : 0;
                        return number < 9e18;
                }
        return false;
}
