/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/network-mode.h"

/* What /etc/resolv.conf is to say: podman's --dns, --dns-search and --dns-option. Each value may be several with
 * commas between; empty ones say nothing. */
typedef struct DnsRequest {
        GPtrArray *servers, *searches, *options; /* owned, of char*; NULL: not said */
        bool of_image;                           /* --dns=none: the image's file stays as it is */
} DnsRequest;

/* Add a value. Servers become addresses as inet_ntop(3) writes them. Fail with KT_ERROR_USAGE, the request perhaps
 * longer. */
bool dns_request_add_servers(const char *value, DnsRequest *request, GError **error);
bool dns_request_add_searches(const char *value, DnsRequest *request, GError **error);
bool dns_request_add_options(const char *value, DnsRequest *request, GError **error);

/* Whether all of it, and the network, go together. *ret_option: "dns", "dns-search" or "dns-option", which does not.
 */
bool dns_request_check(const DnsRequest *request, NetworkMode network, const char **ret_option, GError **error);

bool dns_request_is_empty(const DnsRequest *request);
void dns_request_clear(DnsRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DnsRequest, dns_request_clear)
