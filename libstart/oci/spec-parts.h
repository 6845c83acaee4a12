/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/spec.h"

/* Private to spec.c and the spec-*.c files: each fills its part of the spec, which owns all that it is
 * given and frees it with free(3). GLib's memory is that (g_malloc() is malloc() since GLib 2.46). */

typedef runtime_spec_schema_config_schema Spec;

typedef struct SpecInput {
        const LaunchArgs *args;
        const ImageConfig *image;
        const UserIdentity *user;
        const HostFacts *host;
        const char *const *environment;
        const GPtrArray *file_mounts; /* of MountRequest*, or NULL */
} SpecInput;

bool spec_add_process(Spec *spec, const SpecInput *input, GError **error);
bool spec_add_capabilities(Spec *spec, const SpecInput *input, GError **error); /* after the process */
bool spec_add_rlimits(Spec *spec, const SpecInput *input, GError **error);      /* after the process */
bool spec_add_mounts(Spec *spec, const SpecInput *input, GError **error);
bool spec_add_linux(Spec *spec, const SpecInput *input, GError **error); /* after the mounts */
bool spec_add_masks(Spec *spec, const SpecInput *input, GError **error); /* a part of spec_add_linux() */
bool spec_add_annotations(Spec *spec, const SpecInput *input, GError **error);

/* A copy of the strings; *ret_length is their number. Transfer full. */
char **spec_copy_strings(const char *const *strings, size_t *ret_length);

/* Refuses a path in a mount with shared propagation: what a start mounts there would be mounted on the host, too, and
 * outlive the container. `what` begins the message. Links are not followed. */
bool spec_check_not_shared(runtime_spec_schema_defs_mount *const *mounts, size_t length, const char *path,
                           const char *what, GError **error);

/* Does the file unmask /sys/fs/cgroup, which is read-only by default? */
bool spec_has_writable_cgroup(const SpecInput *input);

/* Does the container have a network namespace of its own? */
static inline bool spec_has_own_network(const SpecInput *input) {
        return g_strcmp0(input->args->network, "none") == 0;
}
