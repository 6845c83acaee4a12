/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/host-facts.h"
#include "libstart/request/request.h"

/* For a user's container, which nothing but the node's mode holds: whether it could use the node at `path` otherwise
 * than `access_wanted` says (some of "rwm"), which is an error. `asked`: the path for the message. */
bool device_node_check_rest(const char *asked, const char *path, const char *access_wanted, GError **error);

/* The host's nodes for the devices that the request names, links followed. A privileged one gets all in /dev, unless
 * it has a user namespace, in which they could not be opened. Each is one that libstart, and so the payload, is
 * allowed to use as it was asked for. Fails with KT_ERROR_NOT_FOUND where there is none. Transfer full: of
 * DeviceNode. */
GPtrArray *device_nodes_find(const ContainerRequest *request, GError **error);
