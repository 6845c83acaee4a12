/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>

/* The machine's own address, which AddHost=NAME:host-gateway stands for where there is no bridge. Podman's choice: of the
 * addresses that are of use elsewhere the first IPv4 one, else the first of IPv6. Transfer full; NULL if there is none. */
char *host_address_find(GError **error);

/* Neither the loopback's, nor of one link only, nor of many machines. */
bool host_address_is_global(const struct sockaddr *address);
