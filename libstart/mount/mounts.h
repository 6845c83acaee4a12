/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/mount/bind-mounts.h"
#include "libstart/oci/mount-plan.h"

/* Make the mounts of a plan, in the order of a start. Those that most containers have are made here: libcrun can make
 * most of these too, and opens, remounts and resolves each of them again for that; made here they take a third of the
 * system calls. */

/* In a user namespace of its own the container's first process is not the host's root any more: it cannot pass the
 * directories that lead to a volume, make a device node, or show the /sys of the host's network. So these mounts are
 * made before there is a container, attached to nothing, and its process puts them in their place. The others it
 * makes itself: they belong to namespaces that it has by then. What lies beside the spec's root is the container's:
 * its process finds it.
 *
 * Without a user namespace that goes for mounts with owners of their own (idmap) alone: to make these takes the /proc
 * of the host. */
bool mounts_prepare(MountPlan *plan, const runtime_spec_schema_config_schema *spec, const BindMountContext *context,
                    GError **error);

/* In the container's mount namespace, before its root is attached, and when libcrun has made all mounts private.
 * The threat: a volume holds the place of the root (/run does, and "/"). What is mounted in it would come along: the
 * root, which has no masks there and is not read-only, and the files and secrets beside it. */
bool mounts_leave_root_out(const MountPlan *plan, const char *root, GError **error);

/* Those before libcrun's, and those behind (`last`), but for those of shared-mounts.h. Changes the working
 * directory.
 *
 * cwd: the payload's working directory is made, as far as that is possible, if a mount has hidden it. */
bool mounts_make(const MountPlan *plan, bool last, const BindMountContext *context, const char *cwd, GError **error);

/* Before libcrun makes its own. The threat: it takes sources and destinations by their names, and follows links. A
 * source may be led to a file of the host's that nobody named; a destination, though it stays within the container,
 * on top of what the kernel shows there. So libcrun is given sources that are open, and destinations are looked at
 * before and after. Replaces the sources by names of descriptors, so: in the container's process, which has a copy of
 * its own. */
bool mounts_open_for_libcrun(MountPlan *plan, const BindMountContext *context, GError **error);

/* After it: nothing of libcrun's lies on the mounts before. Closes the sources. What is masked in part is opened anew
 * in root_fd, the root that libcrun has bound, where it must be what was mounted. */
bool mounts_check_libcrun(MountPlan *plan, int root_fd, GError **error);

/* What is still open of it. */
void mounts_close(MountPlan *plan);
