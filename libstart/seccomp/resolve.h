/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <ocispec/runtime_spec_schema_config_linux.h>

#include "libstart/seccomp/profile.h"
#include "libstart/seccomp/target.h"

/* For a runtime that compiles its filters itself: linux.seccomp of the OCI runtime spec, in which nothing depends on
 * capabilities, architecture or kernel any more. Filters of it have the verdicts of seccomp_filter_compile(). Fails
 * for SCMP_ACT_NOTIFY, as that does. Free with free_runtime_spec_schema_config_linux_seccomp(). */
runtime_spec_schema_config_linux_seccomp *seccomp_profile_resolve(const SeccompProfile *profile,
                                                                  const SeccompTarget *target, GError **error);

/* The same of a container's profile, as seccomp_filter_for() has it. */
runtime_spec_schema_config_linux_seccomp *seccomp_resolved_for(const char *root, const char *profile,
                                                               guint64 bounding_caps, GError **error);
