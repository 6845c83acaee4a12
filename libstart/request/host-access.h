/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How paths of the host are opened that a container's file names (mount/host-path.h). */
typedef struct HostAccess {
        const char *untrusted_list; /* the generator's list of directories that payloads write to, or NULL */
        const struct Owner *owner;  /* with whose rights (userns/owner.h); NULL: root's */
} HostAccess;
