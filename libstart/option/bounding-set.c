/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/capability.h>
#include <sys/prctl.h>

#include "libstart/base/error.h"
#include "libstart/option/bounding-set.h"
#include "libstart/option/capability.h"

/* Podman's defaults. */
#define BIT(capability) (G_GUINT64_CONSTANT(1) << CAP_##capability)
#define DEFAULT_CAPABILITIES                                                                              \
        (BIT(CHOWN) | BIT(DAC_OVERRIDE) | BIT(FOWNER) | BIT(FSETID) | BIT(KILL) | BIT(NET_BIND_SERVICE) | \
         BIT(SETFCAP) | BIT(SETGID) | BIT(SETPCAP) | BIT(SETUID) | BIT(SYS_CHROOT))

bool bounding_set_check(guint64 added, guint64 dropped, GError **error) {
        guint64 both = added & dropped;

        if (added == CAPABILITY_ALL && dropped == CAPABILITY_ALL)
                return error_set(error, KT_ERROR_USAGE, "All capabilities are both added and dropped");
        if (added == CAPABILITY_ALL || dropped == CAPABILITY_ALL)
                return true; /* "all but these" */
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (both >> i & 1)
                        return error_set(error, KT_ERROR_USAGE, "Capability '%s' is both added and dropped",
                                         capability_name(i));
        return true;
}

guint64 bounding_set_find(guint64 added, guint64 dropped, guint64 available) {
        guint64 mask = dropped == CAPABILITY_ALL ? added : (DEFAULT_CAPABILITIES | added) & ~dropped;

        return mask & available;
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
