/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/enter/payload-limits.h"

#define UNLIMITED "unlimited"
#define NAME_WIDTH 26 /* of the first column, with the blank behind it */
#define SETS 8        /* of 1024 processors: the kernel knows 8192 */

/* A number or "unlimited", with blanks before it. */
static bool read_value(const char **text, rlim_t *ret) {
        guint64 number;
        char *end;

        *text += strspn(*text, " ");
        if (g_str_has_prefix(*text, UNLIMITED)) {
                *text += strlen(UNLIMITED);
                *ret = RLIM_INFINITY;
                return true;
        }
        number = g_ascii_strtoull(*text, &end, 10);
        if (end == *text)
                return false;
        *text = end;
        *ret = number;
        return true;
}

/* A line each, below one with titles, in the order of their numbers. */
bool payload_limits_parse(const char *text, struct rlimit limits[static RLIM_NLIMITS]) {
        for (int i = 0; i < RLIM_NLIMITS; i++) {
                text = strchr(text, '\n');
                if (!text || memchr(++text, '\0', NAME_WIDTH))
                        return false;
                text += NAME_WIDTH;
                if (!read_value(&text, &limits[i].rlim_cur) || !read_value(&text, &limits[i].rlim_max))
                        return false;
        }
        return true;
}

/* Above its own hard limit nothing comes without CAP_SYS_RESOURCE. */
static bool set_limit(int resource, struct rlimit limit) {
        struct rlimit own;

        if (setrlimit((__rlimit_resource_t) resource, &limit) == 0)
                return true;
        if (errno != EPERM || getrlimit((__rlimit_resource_t) resource, &own) < 0)
                return false;
        limit.rlim_max = MIN(limit.rlim_max, own.rlim_max);
        limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
        return setrlimit((__rlimit_resource_t) resource, &limit) == 0;
}

/* prlimit(2) would ask for the rights of whoever owns the payload's user namespace. */
static bool copy_limits(pid_t payload, bool *ret_forks, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%d/limits", (int) payload), *text = NULL;
        struct rlimit limits[RLIM_NLIMITS];

        if (!g_file_get_contents(path, &text, NULL, error))
                return false;
        if (!payload_limits_parse(text, limits))
                return error_set(error, KT_ERROR_FAILED, "Cannot read '%s'", path);
        /* 0 is a vow of the payload's (HAProxy's, for one), under which nobody but root could have been executed. */
        *ret_forks = limits[RLIMIT_NPROC].rlim_cur != 0;
        for (int i = 0; i < RLIM_NLIMITS; i++)
                if ((i != RLIMIT_NPROC || *ret_forks) && !set_limit(i, limits[i]))
                        return error_set_errno(error, errno, "Cannot have the payload's limits");
        return true;
}

static bool copy_processors(pid_t payload, GError **error) {
        cpu_set_t sets[SETS];

        CPU_ZERO_S(sizeof sets, sets);
        return (sched_getaffinity(payload, sizeof sets, sets) == 0 && sched_setaffinity(0, sizeof sets, sets) == 0) ||
               error_set_errno(error, errno, "Cannot have the payload's processors");
}

/* Without CAP_SYS_NICE nobody gets a higher one. */
static bool copy_priority(pid_t payload, GError **error) {
        int nice;

        errno = 0;
        nice = getpriority(PRIO_PROCESS, (id_t) payload);
        return (errno == 0 && (setpriority(PRIO_PROCESS, 0, nice) == 0 || errno == EACCES || errno == EPERM)) ||
               error_set_errno(error, errno, "Cannot have the payload's priority");
}

bool payload_limits_copy(pid_t payload, bool *ret_forks, GError **error) {
        return copy_processors(payload, error) && copy_priority(payload, error) &&
               copy_limits(payload, ret_forks, error);
}
