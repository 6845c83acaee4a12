/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <linux/capability.h>
#include <stdbool.h>

/* Capabilities as 64-bit masks: bit N is capability N of <linux/capability.h>. */

#define CAPABILITY_COUNT 41 /* through CAP_CHECKPOINT_RESTORE, Linux 5.9 and later */
#define CAPABILITY_ALL ((G_GUINT64_CONSTANT(1) << CAPABILITY_COUNT) - 1)

/* What makes a container master of its network. */
#define CAPABILITY_NETWORK (G_GUINT64_CONSTANT(1) << CAP_NET_ADMIN | G_GUINT64_CONSTANT(1) << CAP_NET_RAW)

/* One name ("CAP_CHOWN", "chown") or "all", or several with commas in between, as podman's --cap-add: into the mask.
 */
bool capability_add(const char *value, guint64 *mask, GError **error);

/* All of the values (of char*) in one mask. */
bool capability_parse_all(const GPtrArray *values, guint64 *ret_mask, GError **error);

/* "CAP_CHOWN" for 0; NULL where there is none. Static. */
const char *capability_name(unsigned int number);

/* A container's bounding set as podman computes it from its defaults and --cap-add, --cap-drop. The generator needs
 * it to say which seccomp filters there will be, libstart to run the container. */

/* A capability in both is an error; "all" in one of them means "all but the other". */
bool bounding_set_check(guint64 added, guint64 dropped, GError **error);

/* available: what this machine could give at all; privileged: all of that, but what the file drops. */
guint64 bounding_set_find(bool privileged, guint64 added, guint64 dropped, guint64 available);

/* This process's own: what it could pass on, of those that have a name here. *ret is set only if all are known. */
bool bounding_set_read(guint64 *ret, GError **error);
