/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/definition.h"
#include "libstart/request/network-request.h"
#include "libstart/value/port-mapping.h"

/* What netavark reads and writes. Pure. */

/* A network that a container is in, with what was chosen for it. */
typedef struct Attachment {
        NetworkDefinition *definition;
        const NetworkRequest *request;
        GArray *addresses; /* of IpAddress */
        char *mac;         /* NULL: the kernel's choice */
        char *interface_name;
} Attachment;

void attachment_free(Attachment *attachment);

typedef struct Setup {
        const char *unit;           /* what the namespace is called */
        const char *container_name; /* that others find it by */
        const char *hostname;       /* NULL: none of its own */
        GPtrArray *attachments;     /* of Attachment */
        GArray *ports;              /* of PortMapping; each has a port of the machine */
        GPtrArray *dns_servers;     /* of char* */
} Setup;

/* The document that `netavark setup` and `netavark teardown` read. Transfer full. */
char *netavark_format_setup(const Setup *setup);

/* What is in such a document, in short. */
typedef struct SetupSummary {
        char *unit, *container_name, *hostname; /* hostname: "" where there is none */
        GPtrArray *networks;                    /* of SummaryNetwork */
        GArray *ports;                          /* of PortMapping, of one protocol each */
} SetupSummary;

typedef struct SummaryNetwork {
        char *name;
        char *bridge;      /* that netavark makes and removes, or NULL */
        GArray *addresses; /* of IpAddress */
        bool is_bridge, internal;
} SummaryNetwork;

void setup_summary_free(SetupSummary *summary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SetupSummary, setup_summary_free)

SetupSummary *netavark_parse_setup(const char *text, gsize length, GError **error);

/* How such a document describes one of its networks. NULL with an error. */
NetworkDefinition *netavark_parse_definition(const char *text, const char *network, GError **error);

/* From what `netavark setup` has printed, a container's names file: lines "host ADDRESS NAME...", "nameserver
 * ADDRESS", "search DOMAIN", "gateway ADDRESS". Transfer full; NULL with KT_ERROR_FAILED. */
char *netavark_format_names(const char *status, gsize length, const SetupSummary *setup, GError **error);

/* netavark prints {"error": "..."} when something fails. Transfer full; NULL: that is not in the text. */
char *netavark_parse_error(const char *text, gsize length);
