/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>

#include "libstart/oci/host-facts.h"
#include "libstart/oci/image-config.h"
#include "libstart/oci/user.h"
#include "libstart/option/launch-args.h"
#include "libstart/option/mount-request.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(runtime_spec_schema_config_schema, free_runtime_spec_schema_config_schema)

/* The OCI runtime spec of a container: Podman's default container, and what args and image make of it.
 * There is no seccomp filter in it (libcrun gets that as BPF), no cgroup path and no resources (both are
 * systemd's).
 *
 * environment: from environment_build(). file_mounts: of MountRequest*, further bind mounts for files
 * that keyturn generates, used where nothing else is mounted on the same path; may be NULL. Free with
 * free_runtime_spec_schema_config_schema(). */
runtime_spec_schema_config_schema *spec_build(const LaunchArgs *args, const ImageConfig *image,
                                              const UserIdentity *user, const HostFacts *host,
                                              const char *const *environment, const GPtrArray *file_mounts,
                                              GError **error);

/* As config.json, indented. Transfer full. */
char *spec_to_json(const runtime_spec_schema_config_schema *spec, GError **error);

/* The same for programs: on one line, and never whole in memory. */
bool spec_write_json(const runtime_spec_schema_config_schema *spec, int fd, GError **error);

/* The capabilities of the container's bounding set: what its seccomp profile is resolved for. */
bool spec_find_capabilities(const LaunchArgs *args, const ImageConfig *image, const HostFacts *host,
                            guint64 *ret_bounding, GError **error);
