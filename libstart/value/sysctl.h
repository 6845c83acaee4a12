/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The namespace that a kernel parameter belongs to. Only such parameters can be set for one container. */
typedef enum SysctlNamespace {
        SYSCTL_IPC,
        SYSCTL_NETWORK,
} SysctlNamespace;

typedef struct Sysctl {
        char *name;
        char *value;
        SysctlNamespace ns;
} Sysctl;

void sysctl_free(Sysctl *sysctl);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sysctl, sysctl_free)

/* NAME=VALUE, of podman's list of names. Transfer full. */
Sysctl *sysctl_parse(const char *value, GError **error);
