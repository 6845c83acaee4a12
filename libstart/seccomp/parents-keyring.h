/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The same filter, under which no process gives its parent a session keyring (KEYCTL_SESSION_TO_PARENT: EPERM). A
 * user's payload has her manager for its parent, and all services that this starts have its session keyring: the
 * payload would read their keys, and give them some. PID 1 is safe from it, by the kernel. Pure. Transfer full. */
GBytes *seccomp_keep_parents_keyring(GBytes *filter);
