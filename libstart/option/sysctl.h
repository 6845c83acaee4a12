/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The namespace that a kernel parameter belongs to. Only such parameters can be set for one container. */
typedef enum SysctlNamespace {
        SYSCTL_IPC,
        SYSCTL_NETWORK,
} SysctlNamespace;

/* NAME=VALUE, of podman's list of names. Either ret may be NULL. ret_name: transfer full. The value is what
 * follows the first '='. */
bool sysctl_parse(const char *value, char **ret_name, SysctlNamespace *ret_namespace, GError **error);
