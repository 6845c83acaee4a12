/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/seccomp/profile.h"
#include "libstart/seccomp/target.h"

/* The filter of a profile for a machine, whose architecture must be the native one, and for a container with this
 * bounding set: an array of struct sock_filter, as seccomp(2) takes it. Its verdicts are those of the filter that
 * crun makes of what podman resolves. The same input gives the same bytes.
 *
 * A system call that this libseccomp does not know is left out, as crun does. Fails where crun would, for
 * SCMP_ACT_NOTIFY (nobody would answer: KT_ERROR_UNSUPPORTED), and for more than BPF_MAXINSNS instructions.
 * Transfer full. */
GBytes *seccomp_filter_compile(const SeccompProfile *profile, const SeccompTarget *target, GError **error);

/* Would it compile for a container that every rule without conditions holds for? Without compiling it,
 * which takes milliseconds: architectures and SCMP_ACT_NOTIFY are looked at, and fail as above. */
bool seccomp_filter_check(const SeccompProfile *profile, GError **error);
