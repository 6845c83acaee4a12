/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/mode.h"
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

bool notify_mode_parse(const char *value, NotifyMode *ret, GError **error) {
        if (g_str_equal(value, "conmon"))
                *ret = NOTIFY_CONMON;
        else if (g_str_equal(value, "container"))
                *ret = NOTIFY_CONTAINER;
        else if (g_str_equal(value, "ignore"))
                *ret = NOTIFY_IGNORE;
        else if (g_str_equal(value, "healthy"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "sdnotify mode 'healthy' is not supported: use container, and let the payload say "
                                 "READY=1");
        else
                return error_set(error, KT_ERROR_USAGE,
                                 "there is no sdnotify mode '%s': use conmon, container or ignore", value);
        return true;
}
