/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>
#include <stddef.h>

#include "libstart/run/bind-mounts.h"

/* The mounts that most containers have and no others. libcrun can make these too, as it makes any mount that a spec
 * may ask for, and opens, remounts and resolves each of them again for that; made here they take a third of the system
 * calls. */

/* How many of the first mounts mounts_make() can make. What follows is libcrun's affair: it may lie on top of these.
 * cgroup2: the host has the unified hierarchy and nothing else. */
size_t mounts_count(runtime_spec_schema_defs_mount *const *mounts, size_t length, bool cgroup2);

/* Move those behind the first n that libcrun must not make (bind-mounts.h), and what lies on them, to the end: they are made
 * when libcrun's are. Sets *ret_last to their number. Fails where libcrun would have to mount something on one of them. */
bool mounts_put_last(const ContainerRequest *request, runtime_spec_schema_defs_mount **mounts, size_t length,
                     size_t n, size_t *ret_last, GError **error);

/* Make the first n mounts. Changes the working directory.
 *
 * cwd: the payload's working directory is made, as far as that is possible, if a mount has hidden it. */
bool mounts_make(const BindMountContext *context, runtime_spec_schema_defs_mount *const *mounts, size_t n,
                 const char *cwd, GError **error);

/* Is /dev the tmpfs that these make? */
bool mounts_have_dev(runtime_spec_schema_defs_mount *const *mounts, size_t n);

/* Whether `path`, of the container, is the mount's destination or below it. */
bool mount_covers(const runtime_spec_schema_defs_mount *mount, const char *path);
