/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <ocispec/runtime_spec_schema_config_linux.h>

#include "libstart/request/request.h"

/* The container's seccomp filter, raw BPF, for a container with these capabilities; for another runtime, which
 * compiles it itself, the profile goes into the spec. *ret is NULL only there and where "seccomp=unconfined" is asked
 * for; a filter that cannot be had is an error. */
bool seccomp_filter_find(const ContainerRequest *request, guint64 capabilities,
                         runtime_spec_schema_config_linux *linux_, GBytes **ret, GError **error);
