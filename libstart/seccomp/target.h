/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/seccomp/profile.h"

/* What of a profile holds for one container on one machine. */

typedef struct SeccompTarget {
        guint64 bounding_caps; /* bit n: capability number n is in the container's bounding set */
        guint32 arch;          /* native SCMP_ARCH_… token */
        guint32 kernel;        /* seccomp_kernel_version() */
} SeccompTarget;

/* This machine. Cannot fail: a kernel that does not tell its version is 0.0, older than every minKernel. */
SeccompTarget seccomp_target_here(guint64 bounding_caps);

/* Everything in "includes" must hold and nothing in "excludes" may: NULL. If not, what is against it, a literal. */
const char *seccomp_rule_obstacle(const SeccompRule *rule, const SeccompTarget *target);

/* SCMP_ARCH_… names to add to the native one. The strings are the profile's; transfer container. */
GPtrArray *seccomp_profile_architectures(const SeccompProfile *profile, const SeccompTarget *target);
