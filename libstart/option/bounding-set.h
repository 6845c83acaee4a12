/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/option/launch-args.h"

/* A container's bounding set as podman computes it from its defaults and --cap-add, --cap-drop. The
 * generator needs it to say which seccomp filters there will be, the launcher to run the container. Masks
 * as in capability.h. */

/* Names or "all" in both options; a capability in both is an error. */
bool bounding_set_find_asked(const LaunchArgs *args, guint64 *ret_added, guint64 *ret_dropped, GError **error);

/* available: what this machine could give at all. */
bool bounding_set_find(const LaunchArgs *args, guint64 available, guint64 *ret, GError **error);

/* This process's own: what it could pass on. */
guint64 bounding_set_read(void);
