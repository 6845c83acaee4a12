/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <ocispec/runtime_spec_schema_config_linux.h>

#include "libstart/request/request.h"

/* The container's seccomp filter, raw BPF, for a container with these capabilities. *ret is NULL only where
 * "seccomp=unconfined" is asked for; a filter that cannot be had is an error. */
bool seccomp_filter_load(const ContainerRequest *request, guint64 capabilities, GBytes **ret, GError **error);

/* The same for another runtime, which compiles it itself: into the spec. */
bool seccomp_filter_describe(const ContainerRequest *request, guint64 capabilities,
                             runtime_spec_schema_config_linux *linux_, GError **error);
