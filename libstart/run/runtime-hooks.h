/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/run/runtime.h"

/* What libcrun calls of ours while it runs a container: see runtime-hooks.c. Between the two calls the container is
 * the one that the hooks are about; there is one at a time. n_own: how many of the spec's first mounts are not libcrun's
 * to make (mounts.h). */
void runtime_hooks_begin(const RuntimeContainer *container, size_t n_own);
const RuntimeContainer *runtime_hooks_container(void); /* NULL: none, or no more */
pid_t runtime_hooks_end(void);                         /* the payload's pid, 0 if libcrun did not get that far */
