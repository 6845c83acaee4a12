/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum LogDriver {
        LOG_DRIVER_JOURNALD,    /* through keyturn's relay */
        LOG_DRIVER_PASSTHROUGH, /* the descriptors that systemd gave */
        LOG_DRIVER_NONE,        /* /dev/null */
} LogDriver;

bool log_driver_parse(const char *value, LogDriver *ret, GError **error);

/* tag=NAME or path=FILE: that one of the two is set, to what is inside value. */
bool log_option_parse(const char *value, const char **ret_tag, const char **ret_path, GError **error);
