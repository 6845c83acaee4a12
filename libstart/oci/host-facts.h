/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A device of the host's that the container is to have. */
typedef struct DeviceNode {
        char *source;      /* on the host, links followed; NULL if it is known by its number alone */
        char *destination; /* absolute */
        char type;         /* 'b' or 'c' */
        unsigned major, minor;
        guint32 mode, uid, gid; /* of a node that is made anew; without the type */
        char access[4];         /* some of "rwm" */
        bool is_made;           /* anew, by number; else the host's own is mounted */
} DeviceNode;

/* Is one of them (of DeviceNode) on that path in the container? */
static inline bool device_nodes_have(const GPtrArray *nodes, const char *path) {
        for (guint i = 0; i < nodes->len; i++)
                if (g_str_equal(((const DeviceNode *) nodes->pdata[i])->destination, path))
                        return true;
        return false;
}

/* All that a container's configuration takes from the machine. libstart/service/host.c fills it; nothing here asks
 * the machine itself. */
typedef struct HostFacts {
        const char *hostname;           /* the machine's own */
        const char *const *environment; /* libstart's own: NAME=VALUE, NULL-terminated */

        char **thermal_throttle; /* sorted: every cpuN/thermal_throttle, absolute */

        guint64 nofile_hard, nproc_hard; /* libstart's own hard limits; G_MAXUINT64: none */
        bool can_raise_limits;           /* libstart has CAP_SYS_RESOURCE */
        bool is_users_view;              /* libstart is a user's: device nodes are the host's own */
        guint64 nr_open;       /* /proc/sys/fs/nr_open: no limit on files can be above it; 0: not known, or of no use
                                * because limits cannot be raised */
        guint64 bounding_caps; /* mask as in value/capability.h: what libstart could pass on at all */

        int listen_fds;              /* sockets passed by systemd, from descriptor 3 on */
        const char *listen_fd_names; /* $LISTEN_FDNAMES, or NULL */

        bool selinux; /* SELinux is enabled */

        GPtrArray *device_nodes; /* of DeviceNode; or NULL */
} HostFacts;
