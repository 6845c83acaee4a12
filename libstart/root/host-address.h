/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The machine's own address, which AddHost=NAME:host-gateway stands for where there is no bridge. Podman's choice: of
 * the addresses that are of use elsewhere the first IPv4 one, else the first of IPv6. Transfer full; NULL if there is
 * none. */
char *host_address_find(GError **error);
