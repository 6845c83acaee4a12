/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "libstart/network/address-range.h"

/* A network as Podman writes it into /etc/containers/networks/NAME.json. Pure. */

#define DEFAULT_NETWORK "podman"
#define DEFAULT_NETWORK_SUBNET "10.88.0.0/16"

typedef struct NetworkSubnet {
        IpPrefix prefix;
        bool has_gateway, has_range;
        IpAddress gateway;
        AddressRange range; /* that Podman gives addresses from: its "lease_range" */
        AddressRange ours;  /* that keyturn gives addresses from: see network_definition_share() */
} NetworkSubnet;

typedef struct NetworkDefinition {
        const char *name, *driver, *interface; /* of the tree; interface: "" where it has none */
        const char *ipam_driver;               /* "host-local", "dhcp", "none", or "" */
        bool internal, dns;
        GArray *subnets; /* of NetworkSubnet */
        bool shared;     /* `ours` is written in it */
        yajl_val tree;
} NetworkDefinition;

void network_definition_free(NetworkDefinition *definition);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NetworkDefinition, network_definition_free)

/* name: the file's, without ".json", which the network must have, too. As Podman does, subnets without a gateway get
 * one. KT_ERROR_FAILED. */
NetworkDefinition *network_definition_parse(const char *text, gsize length, const char *name, GError **error);

/* Whether addresses are given to containers, and not by a DHCP server or nobody. */
bool network_definition_gives_addresses(const NetworkDefinition *definition);

/* As it was read, but for the subnets and whose addresses they are. */
void network_definition_emit(const NetworkDefinition *definition, yajl_gen gen);

/* The same as a file's text. Transfer full. */
char *network_definition_format(const NetworkDefinition *definition);

/* What Podman has for a network "podman" that has no file: its name and its first subnet are containers.conf's. */
NetworkDefinition *network_definition_default(const char *name, const char *subnet, GError **error);

/* Halves the addresses of each subnet, so that Podman and keyturn never give the same one: Podman's database of them
 * cannot be written by others, but it keeps to the "lease_range", which becomes the lower half. The upper half stands
 * in a label. Nothing changes where that was done already. True: something has changed. */
bool network_definition_share(NetworkDefinition *definition);

/* Where a map is open: an address, and "subnets": [...], of an array of NetworkSubnet. */
void network_address_emit(yajl_gen gen, const char *key, const IpAddress *address);
void network_subnets_emit(yajl_gen gen, const GArray *subnets);
