/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/prctl.h>

#include "libstart/base/process-filters.h"

#ifndef PR_GET_MDWE /* Linux 6.3 */
# define PR_GET_MDWE 66
#endif

/* Before Linux 5.9 there is only the mode to be known, 2: a filter or some. */
static guint read_count(const char *status) {
        static const char count[] = "\nSeccomp_filters:\t";
        const char *line = strstr(status, count);

        return line ? (guint) g_ascii_strtoull(line + strlen(count), NULL, 10) :
                      strstr(status, "\nSeccomp:\t2") != NULL;
}

bool process_filters_count(guint *ret, GError **error) {
        g_autofree char *status = NULL;

        if (!g_file_get_contents("/proc/self/status", &status, NULL, error))
                return false;
        *ret = read_count(status) + (prctl(PR_GET_MDWE, 0, 0, 0, 0) > 0);
        return true;
}
