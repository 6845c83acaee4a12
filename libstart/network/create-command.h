/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What a network is to be: podman network create's options, as strings or NULL. */
typedef struct CreateOptions {
        char *name, *driver, *interface_name, *ipam_driver;
        char **subnets, **gateways, **ranges; /* the first of each belong together */
        char **dns, **labels, **options, **routes;
        gboolean internal, ipv6, disable_dns;
} CreateOptions;

/* Describes the network, as `podman network create --ignore` does: one that there is stays what it is. */
bool create_command(const CreateOptions *options, GError **error);

/* Forgets it. Fails while a container is in it. */
bool delete_command(const char *name, GError **error);
