/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A container's bounding set as podman computes it from its defaults and --cap-add, --cap-drop. The
 * generator needs it to say which seccomp filters there will be, the launcher to run the container. Masks
 * as in capability.h. */

/* A capability in both is an error; "all" in one of them means "all but the other". */
bool bounding_set_check(guint64 added, guint64 dropped, GError **error);

/* available: what this machine could give at all. */
guint64 bounding_set_find(guint64 added, guint64 dropped, guint64 available);

/* This process's own: what it could pass on. */
guint64 bounding_set_read(void);
