/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* All that a container's configuration takes from the machine. libstart/run fills it; nothing here asks
 * the machine itself. Nothing is owned, except where a field says so. */
typedef struct HostFacts {
        const char *hostname;           /* the machine's own */
        const char *const *environment; /* libstart's own: NAME=VALUE, NULL-terminated */

        char **thermal_throttle; /* owned, sorted: every cpuN/thermal_throttle, absolute */

        guint64 nofile_hard, nproc_hard; /* libstart's own hard limits; G_MAXUINT64: none */
        bool can_raise_limits;           /* libstart has CAP_SYS_RESOURCE */
        guint64 nr_open;                 /* /proc/sys/fs/nr_open: no limit on files can be above it; 0: not known, or
                                * of no use because limits cannot be raised */
        guint64 bounding_caps;           /* mask as in option/capability.h: what libstart could pass on at all */

        int listen_fds;              /* sockets passed by systemd, from descriptor 3 on */
        const char *listen_fd_names; /* $LISTEN_FDNAMES, or NULL */
        char *notify_socket; /* owned: path on the host of the socket for what the payload says to systemd; NULL:
                                      * there is none, as nobody would listen */

        char *rootfs_mount; /* owned: absolute; the directory that the root file system is mounted on */
        bool selinux;       /* SELinux is enabled */

        /* The mount flags (ST_RDONLY, ST_NOSUID, ... of statvfs(3)) that a bind mount's source is under:
         * the mount must not be freer than they are. Fails with KT_ERROR_NOT_FOUND where there is no such
         * source. NULL: the caller only wants to see the spec; no flags are added. */
        bool (*source_flags)(const char *path, unsigned long *ret_flags, GError **error);

        /* Where the node of a device really is, links followed; it is one that libstart, and so the payload, is allowed
         * to use as `access` (some of "rwm") says. Fails with KT_ERROR_NOT_FOUND where there is none. Transfer full.
         * NULL: the caller only wants to see the spec; paths are taken as they are. */
        bool (*find_device)(const char *path, const char *access, char **ret_node, GError **error);
} HostFacts;

void host_facts_clear(HostFacts *host); /* frees what is owned */
