/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Where the node of a device really is, links followed; it is one that libstart, and so the payload, is allowed to use as
 * `access` (some of "rwm") says. Fails with KT_ERROR_NOT_FOUND where there is none. Transfer full. */
bool device_node_find(const char *path, const char *access, char **ret_node, GError **error);
