/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Mount=type=artifact: the files of an artifact (store/artifact.h) in a container, read-only. */

/* Replaces each artifact among the mounts (of MountRequest) by one mount for each of its files, with the file as its
 * source. As in podman-run(1): a single one lies on the destination itself, unless that is a directory of the
 * container's root; several lie below it. root_fd: of that root. stores: additional image stores, or NULL. */
bool artifact_mounts_expand(GPtrArray *mounts, int root_fd, const GPtrArray *stores, GError **error);
