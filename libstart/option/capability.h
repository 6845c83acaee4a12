/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Capabilities as 64-bit masks: bit N is capability N of <linux/capability.h>. */

#define CAPABILITY_COUNT 41 /* through CAP_CHECKPOINT_RESTORE, Linux 5.9 and later */
#define CAPABILITY_ALL ((G_GUINT64_CONSTANT(1) << CAPABILITY_COUNT) - 1)

/* One name ("CAP_CHOWN", "chown") or "all", or several with commas in between, as podman's --cap-add. */
bool capability_parse(const char *value, guint64 *ret_mask, GError **error);

/* All of the values (of char*) in one mask. */
bool capability_parse_all(const GPtrArray *values, guint64 *ret_mask, GError **error);

/* "CAP_CHOWN" for 0; NULL where there is none. Static. */
const char *capability_name(unsigned int number);
