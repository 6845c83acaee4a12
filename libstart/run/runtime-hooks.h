/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libstart/run/further-mounts.h"
#include "libstart/run/prepared-mounts.h"
#include "libstart/run/runtime-container.h"

/* What libcrun calls of ours while it runs a container: see runtime-hooks.c. */

struct custom_handler_s; /* libcrun's */

typedef struct RuntimeHooks {
        const RuntimeContainer *container;
        size_t n_own;            /* how many of the spec's first mounts are not libcrun's to make (mounts.h) */
        size_t n_last;           /* and how many of the last, when it has made the others */
        PreparedMounts prepared; /* with a user namespace */
        pid_t payload;           /* 0 if libcrun did not get that far */
        /* In the container's process only: */
        int root; /* descriptor of its root */
        FurtherMounts further;
        bool mounted;  /* all mounts and masks are made */
        bool confined; /* the label and the profile are set, where there are any */
        bool filtered; /* the filter is in force */
} RuntimeHooks;

/* For mounts.h. In the container's process, `root` is its root; before, there is none. */
BindMountContext runtime_hooks_mount_context(const RuntimeHooks *hooks);

/* Are the device nodes of the spec not libcrun's to make either? In a user namespace nobody can make one: libcrun binds
 * the host's there. n_own: as above. */
bool runtime_hooks_make_nodes(const RuntimeContainer *container, size_t n_own);

/* Its functions' cookie is a RuntimeHooks. */
struct custom_handler_s *runtime_hooks_handler(void);
