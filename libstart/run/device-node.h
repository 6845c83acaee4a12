/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* HostFacts.find_device, of this machine. */
bool device_node_find(const char *path, const char *access, char **ret_node, GError **error);
