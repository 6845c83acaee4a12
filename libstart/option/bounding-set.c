/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/capability.h>
#include <sys/prctl.h>

#include "libstart/base/error.h"
#include "libstart/option/bounding-set.h"
#include "libstart/option/capability.h"

/* Podman's. */
#define BIT(capability) (G_GUINT64_CONSTANT(1) << CAP_##capability)
#define DEFAULT_CAPABILITIES                                                                              \
        (BIT(CHOWN) | BIT(DAC_OVERRIDE) | BIT(FOWNER) | BIT(FSETID) | BIT(KILL) | BIT(NET_BIND_SERVICE) | \
         BIT(SETFCAP) | BIT(SETGID) | BIT(SETPCAP) | BIT(SETUID) | BIT(SYS_CHROOT))

static bool parse_list(const GPtrArray *list, guint64 *ret, GError **error) {
        guint64 mask = 0;

        for (guint i = 0; i < list->len; i++) {
                guint64 one = 0;

                if (!capability_parse(list->pdata[i], &one, error))
                        return false;
                mask |= one;
        }
        *ret = mask;
        return true;
}

bool bounding_set_find_asked(const LaunchArgs *args, guint64 *ret_added, guint64 *ret_dropped, GError **error) {
        guint64 both;

        if (!parse_list(args->cap_add, ret_added, error) || !parse_list(args->cap_drop, ret_dropped, error))
                return false;
        if (*ret_added == CAPABILITY_ALL && *ret_dropped == CAPABILITY_ALL)
                return error_set(error, KT_ERROR_USAGE, "all capabilities are both added and dropped");
        if (*ret_added == CAPABILITY_ALL || *ret_dropped == CAPABILITY_ALL)
                return true; /* "all but these" */
        both = *ret_added & *ret_dropped;
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (both >> i & 1)
                        return error_set(error, KT_ERROR_USAGE, "capability '%s' is both added and dropped",
                                         capability_name(i));
        return true;
}

bool bounding_set_find(const LaunchArgs *args, guint64 available, guint64 *ret, GError **error) {
        guint64 mask, added = 0, dropped = 0;

        if (!bounding_set_find_asked(args, &added, &dropped, error))
                return false;
        mask = dropped == CAPABILITY_ALL ? added : (DEFAULT_CAPABILITIES | added) & ~dropped;
        *ret = mask & available;
        return true;
}

guint64 bounding_set_read(void) {
        guint64 set = 0;

        for (int cap = 0; cap < 64; cap++) {
                int r = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

                if (r < 0) /* past the last one of this kernel */
                        break;
                set |= (guint64) r << cap;
        }
        return set;
}
