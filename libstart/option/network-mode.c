/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/network-mode.h"
#include "libstart/base/error.h"

bool network_mode_parse(const char *value, NetworkMode *ret, GError **error) {
        if (g_str_equal(value, "host"))
                *ret = NETWORK_HOST;
        else if (g_str_equal(value, "none"))
                *ret = NETWORK_NONE;
        else if (value[0] == '\0')
                return error_set(error, KT_ERROR_USAGE, "the network is empty: write host or none");
        else
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "network '%s' is not supported: use host (the machine's own network) or none "
                                 "(loopback only)",
                                 value);
        return true;
}
