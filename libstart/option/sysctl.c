/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/option/sysctl.h"

static bool find_namespace(const char *name, SysctlNamespace *ret) {
        static const char *const ipc[] = {
                "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni",          "kernel.sem", "kernel.shmall",
                "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", NULL,
        };

        if (g_strv_contains(ipc, name) || g_str_has_prefix(name, "fs.mqueue."))
                *ret = SYSCTL_IPC;
        else if (g_str_has_prefix(name, "net."))
                *ret = SYSCTL_NETWORK;
        else
                return false;
        return true;
}

bool sysctl_parse(const char *value, char **ret_name, SysctlNamespace *ret_namespace, GError **error) {
        const char *equals = strchr(value, '=');
        g_autofree char *name = equals ? g_strndup(value, (gsize) (equals - value)) : NULL;
        SysctlNamespace ns;

        if (!equals || equals == value)
                return error_set(error, KT_ERROR_USAGE, "sysctl '%s': the form is NAME=VALUE", value);
        /* The name becomes a path below /proc/sys. */
        if (name[strcspn(name, "/ \t")] || strstr(name, ".."))
                return error_set(error, KT_ERROR_USAGE, "sysctl '%s': '%s' is no name of a kernel parameter", value,
                                 name);
        if (!find_namespace(name, &ns))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "sysctl '%s': '%s' belongs to the whole machine, not to a container; set it with "
                                 "sysctl.d(5)",
                                 value, name);
        if (ret_namespace)
                *ret_namespace = ns;
        if (ret_name)
                *ret_name = g_steal_pointer(&name);
        return true;
}
