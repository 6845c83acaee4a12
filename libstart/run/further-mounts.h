/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libstart/run/bind-mounts.h"

/* Mounts that libcrun makes, since mounts.h does not know how. The threat: it takes sources and destinations by their
 * names, and follows links. A source may be led to a file of the host's that nobody named; a destination, though it
 * stays within the container, on top of what the kernel shows there. So libcrun is given sources that are open, and
 * destinations are looked at before and after. */
typedef struct FurtherMounts {
        GArray *sources; /* int: their descriptors */
        dev_t *devices;  /* of each of the first mounts, what is to be seen there */
} FurtherMounts;

/* Before libcrun makes the mounts of the spec from `first` on, without the `last` ones; those before are made.
 * Replaces their sources in the spec by names of descriptors, so: in the container's process, which has a copy of its
 * own. */
bool further_mounts_prepare(FurtherMounts *further, runtime_spec_schema_config_schema *spec, size_t first,
                            size_t last, const BindMountContext *context, GError **error);

/* After it: nothing of theirs lies on the mounts before `first`. Closes the sources. */
bool further_mounts_check(FurtherMounts *further, const runtime_spec_schema_config_schema *spec, size_t first,
                          int root_fd, GError **error);
