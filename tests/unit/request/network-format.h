/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/request/network-request.h"
#include "libstart/value/ip-address.h"

/* A value for network_request_parse() of which the same is read. Transfer full. */
static inline char *format_network(const NetworkRequest *request) {
        GString *text = g_string_new(request->name ?: "bridge");
        char separator = ':';

        for (guint i = 0; i < request->addresses->len; i++, separator = ',') {
                const IpAddress *address = &g_array_index(request->addresses, IpAddress, i);
                g_autofree char *written = ip_address_format(address);

                g_string_append_printf(text, "%c%s=%s", separator, ip_address_bits(address) == 32 ? "ip" : "ip6",
                                       written);
        }
        if (request->mac) {
                g_string_append_printf(text, "%cmac=%s", separator, request->mac);
                separator = ',';
        }
        for (guint i = 0; i < request->aliases->len; i++, separator = ',')
                g_string_append_printf(text, "%calias=%s", separator, (const char *) request->aliases->pdata[i]);
        if (request->interface_name)
                g_string_append_printf(text, "%cinterface_name=%s", separator, request->interface_name);
        return g_string_free(text, FALSE);
}
