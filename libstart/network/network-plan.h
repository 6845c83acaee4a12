/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/network-conf.h"

/* What a network is to be: podman network create's options, as strings or NULL. */
typedef struct CreateOptions {
        char *name, *driver, *interface_name, *ipam_driver;
        char **subnets, **gateways, **ranges; /* the first of each belong together */
        char **dns, **labels, **options, **routes;
        gboolean internal, ipv6, disable_dns;
} CreateOptions;

typedef enum Driver {
        DRIVER_BRIDGE = 1 << 0,
        DRIVER_MACVLAN = 1 << 1,
        DRIVER_IPVLAN = 1 << 2,
} Driver;

/* What becomes of these: the same that Podman makes of them. */
typedef struct NetworkPlan {
        const CreateOptions *options;
        Driver driver;
        const char *ipam;
        char *interface; /* owned, or NULL */
        GArray *subnets; /* of NetworkSubnet */
        GPtrArray *own;  /* of char*: NAME, VALUE, NAME, VALUE: options of the driver */
        bool dns, unmanaged;
} NetworkPlan;

/* Fills in the rest of a plan with its options: those that contradict each other, or mean no network, are an error.
 * It gets subnets and an interface that no other network has. */
bool network_plan_make(NetworkPlan *plan, const NetworkConf *conf, GError **error);
void network_plan_clear(NetworkPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NetworkPlan, network_plan_clear)

/* Has it a subnet of AF_INET, or AF_INET6? */
bool network_plan_has_family(const NetworkPlan *plan, int family);
