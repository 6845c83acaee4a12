/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/value/ip-address.h"

/* One network that a container is in, and what it asks for there. */
typedef struct NetworkRequest {
        char *name;           /* NULL: the default one, "bridge" */
        GArray *addresses;    /* of IpAddress: wanted ones */
        char *mac;            /* "aa:bb:cc:dd:ee:ff", or NULL */
        GPtrArray *aliases;   /* of char* */
        char *interface_name; /* in the container; NULL: eth0, eth1, ... */
} NetworkRequest;

void network_request_free(NetworkRequest *request);

/* podman's --network where it means networks: "bridge[:OPTION,...]", "NAME[:OPTION,...]", "NAME,NAME..."; the options
 * are ip=, ip6=, mac=, alias=, interface_name=. Appends to an array of NetworkRequest, longer or not after an error.
 * KT_ERROR_USAGE, and KT_ERROR_UNSUPPORTED for the values that mean no network ("host", "pasta", ...). */
bool network_request_parse(const char *value, GPtrArray *requests, GError **error);
