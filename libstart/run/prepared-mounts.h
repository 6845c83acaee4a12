/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/run/bind-mounts.h"
#include "libstart/run/user-namespace.h"

/* In a user namespace of its own the container's first process is not the host's root any more: it cannot pass the
 * directories that lead to a volume, make a device node, or show the /sys of the host's network. So these mounts are made
 * before there is a container, attached to nothing, and its process puts them in their place. The others it makes itself:
 * they belong to namespaces that it has by then.
 *
 * Without a user namespace that goes for mounts with owners of their own (idmap) alone: to make these takes the /proc of the
 * host. */

/* Is there anything to prepare? */
bool prepared_mounts_are_needed(const ContainerRequest *request, const UserNamespace *userns);

typedef struct PreparedMounts {
        GArray *mounts; /* of int, one for each mount of the spec, or -1 */
        GArray *opened; /* of int: sources of mounts that libcrun makes */
} PreparedMounts;

/* n_own, n_last: as in runtime-hooks.h. Those that libcrun makes get a source in the spec that names a descriptor of
 * this process. What lies below the directory `own` is the container's: its process finds it. */
bool prepared_mounts_make(runtime_spec_schema_config_schema *spec, size_t n_own, size_t n_last,
                          const BindMountContext *context, const char *own, const UserNamespace *userns,
                          PreparedMounts *ret, GError **error);

void prepared_mounts_clear(PreparedMounts *prepared);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PreparedMounts, prepared_mounts_clear)
