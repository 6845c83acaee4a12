/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define DEVICE_RULE_ALL (-1)
#define DEVICE_NUMBER_MAX 0xfffff /* the kernel has 12 bits for majors and 20 for minors */

/* Devices that a container may use, whatever nodes it has: --device-cgroup-rule of podman-run(1). */
typedef struct DeviceRule {
        char type;           /* 'b', 'c', or 'a' for both */
        gint64 major, minor; /* or DEVICE_RULE_ALL */
        char access[4];      /* some of "rwm" */
} DeviceRule;

/* TYPE MAJOR:MINOR ACCESS, as in "c 13:* rw". Fails with KT_ERROR_USAGE. */
bool device_rule_parse(const char *value, DeviceRule *ret, GError **error);
