/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/notify-mode.h"
#include "libstart/base/error.h"

bool notify_mode_parse(const char *value, NotifyMode *ret, GError **error) {
        if (g_str_equal(value, "conmon"))
                *ret = NOTIFY_CONMON;
        else if (g_str_equal(value, "container"))
                *ret = NOTIFY_CONTAINER;
        else if (g_str_equal(value, "ignore"))
                *ret = NOTIFY_IGNORE;
        else if (g_str_equal(value, "healthy"))
                *ret = NOTIFY_HEALTHY;
        else
                return error_set(error, KT_ERROR_USAGE,
                                 "there is no sdnotify mode '%s': use conmon, container, healthy or ignore", value);
        return true;
}
