/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>
#include <stddef.h>

/* The kernel's file systems that every container has: /proc, /dev and what is in it, /sys. libcrun can make them too,
 * as it makes any mount that a spec may ask for, and opens, remounts and resolves each of them again for that; made
 * here they take a third of the system calls. */

/* How many of the first mounts are of that kind, in the way that standard_mounts_make() makes them. What follows is
 * libcrun's affair: it may lie on top of these. cgroup2: the host has the unified hierarchy and nothing else. */
size_t standard_mounts_count(runtime_spec_schema_defs_mount *const *mounts, size_t length, bool cgroup2);

/* Make the first n mounts, and what has to be in /dev. Changes the working directory. */
bool standard_mounts_make(int root_fd, runtime_spec_schema_defs_mount *const *mounts, size_t n, GError **error);
