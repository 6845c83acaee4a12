/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>

#include "libstart/oci/mount-plan.h"
#include "libstart/oci/spec-input.h"

/* The annotation that says which image it is made of: its name may be another one's by now. */
#define SPEC_IMAGE_ID "keyturn.image.id"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(runtime_spec_schema_config_schema, free_runtime_spec_schema_config_schema)

/* The OCI runtime spec of a container: Podman's default container, and what request and image make of it. There is no
 * seccomp filter in it (libcrun gets that as BPF), no cgroup path and no resources (both are systemd's), and no
 * environment: libcrun gets that as it is, and a copy of thousands of variables would only cost. Free with
 * free_runtime_spec_schema_config_schema(), but before that *ret_mounts, the plan that its mounts are printed from
 * (NULL: it is not wanted). */
runtime_spec_schema_config_schema *spec_build(const SpecInput *input, MountPlan **ret_mounts, GError **error);

/* As config.json, indented, with the payload's whole environment. Transfer full. */
char *spec_to_json(const runtime_spec_schema_config_schema *spec, char **environment, GError **error);

/* The same for programs: on one line, and never whole in memory. */
bool spec_write_json(const runtime_spec_schema_config_schema *spec, char **environment, int fd, GError **error);
