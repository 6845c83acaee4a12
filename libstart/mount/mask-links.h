/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/mount-plan.h"

/* Links of an image, or of a volume, on the way to a mask, or to the mount that it is in.
 *
 * What lies in a mount is masked in that one (masks.h), which is found by its name, as text. Where the mount lies in
 * another volume, or in a root that is shared, and a link leads there, the name says something else, and the path
 * alone is no way: who shares what is around the mount can move it away for the moment at which it is looked up. */

/* `root`: the container's, in which `mounts` are, or will be. */
typedef struct MaskLinks {
        int root;
        const MountPlan *mounts;
        bool is_root_shared; /* it is a directory of the host's, in which others may write, too */
        bool is_by_path;     /* another runtime makes the masks, and finds none by its mount */
        char **places;       /* of the mounts, found by the first check; owned */
} MaskLinks;

void mask_links_clear(MaskLinks *links);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MaskLinks, mask_links_clear)

/* May `path` be looked up? Not for what is in /proc and /sys. */
bool mask_links_check(MaskLinks *links, const char *path, GError **error);
