/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "libstart/mount/bind-mounts.h"
#include "libstart/runtime/runtime-container.h"

/* What libcrun calls of ours while it runs a container: see runtime-hooks.c. */

struct custom_handler_s; /* libcrun's */

typedef struct RuntimeHooks {
        const RuntimeContainer *container;
        BindMountContext mounts; /* has the container's root in its process only */
        pid_t payload;           /* 0 if libcrun did not get that far */
        /* In the container's process only: */
        bool mounted;  /* all mounts and masks are made */
        bool confined; /* the label and the profile are set, where there are any */
        bool filtered; /* the filter is in force */
} RuntimeHooks;

/* Are the device nodes of the spec not libcrun's to make either? In a user namespace nobody can make one: libcrun
 * binds the host's there. */
bool runtime_hooks_make_nodes(const RuntimeContainer *container);

/* Does libcrun take its own way with the mounts? For those that it makes, and for hooks, which it calls before the
 * last step of that way: what they mount is masked, too. */
bool runtime_hooks_leave_mounts(const RuntimeContainer *container);

/* Its functions' cookie is a RuntimeHooks. */
struct custom_handler_s *runtime_hooks_handler(void);
