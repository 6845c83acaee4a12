/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* All that a container's configuration takes from the machine. libstart/run/host.c fills it; nothing here asks the
 * machine itself. */
typedef struct HostFacts {
        const char *hostname;           /* the machine's own */
        const char *const *environment; /* libstart's own: NAME=VALUE, NULL-terminated */

        char **thermal_throttle; /* sorted: every cpuN/thermal_throttle, absolute */

        guint64 nofile_hard, nproc_hard; /* libstart's own hard limits; G_MAXUINT64: none */
        bool can_raise_limits;           /* libstart has CAP_SYS_RESOURCE */
        guint64 nr_open;       /* /proc/sys/fs/nr_open: no limit on files can be above it; 0: not known, or of no use
                                * because limits cannot be raised */
        guint64 bounding_caps; /* mask as in option/capability.h: what libstart could pass on at all */

        int listen_fds;              /* sockets passed by systemd, from descriptor 3 on */
        const char *listen_fd_names; /* $LISTEN_FDNAMES, or NULL */

        bool selinux; /* SELinux is enabled */

        /* For each device of the request its node, links followed; NULL for one that is not there and need not be. The list
         * is NULL: paths are taken as they are. */
        const GPtrArray *device_nodes;
} HostFacts;
