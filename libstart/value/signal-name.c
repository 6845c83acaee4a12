/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/signal-name.h"

/* "RTMIN", "RTMIN+3", "RTMAX-1"; 0 if it is none of these. */
static int parse_real_time(const char *name) {
        bool from_min = g_ascii_strncasecmp(name, "RTMIN", 5) == 0;
        guint64 offset = 0;

        if (!from_min && g_ascii_strncasecmp(name, "RTMAX", 5) != 0)
                return 0;
        if (name[5] && (name[5] != (from_min ? '+' : '-') ||
                        !g_ascii_string_to_unsigned(name + 6, 10, 0, (guint64) (SIGRTMAX - SIGRTMIN), &offset, NULL)))
                return 0;
        return from_min ? SIGRTMIN + (int) offset : SIGRTMAX - (int) offset;
}

static int parse_name(const char *name) {
        if (g_ascii_strncasecmp(name, "SIG", 3) == 0)
                name += 3;
        for (int i = 1; i < SIGRTMIN; i++) {
                const char *known = sigabbrev_np(i);

                if (known && g_ascii_strcasecmp(known, name) == 0)
                        return i;
        }
        return parse_real_time(name);
}

bool signal_name_parse(const char *value, int *ret, GError **error) {
        guint64 number = 0;

        if (!g_ascii_string_to_unsigned(value, 10, 1, (guint64) SIGRTMAX, &number, NULL))
                number = (guint64) parse_name(value);
        if (number == 0)
                return error_set(error, KT_ERROR_USAGE, "there is no signal '%s'; see signal(7)", value);
        *ret = (int) number;
        return true;
}

char *signal_name_print(int number) {
        const char *abbreviation = sigabbrev_np(number);

        if (abbreviation)
                return g_strconcat("SIG", abbreviation, NULL);
        /* Those that the C library keeps for itself have no name. */
        return number < SIGRTMIN ? g_strdup_printf("%d", number) : g_strdup_printf("SIGRTMIN+%d", number - SIGRTMIN);
}
