/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/sysctl.h"

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

void sysctl_free(Sysctl *sysctl) {
        g_free(sysctl->name);
        g_free(sysctl->value);
        g_free(sysctl);
}

static bool parse(Sysctl *sysctl, const char *value, GError **error) {
        const char *equals = strchr(value, '=');

        if (!equals || equals == value)
                return error_set(error, KT_ERROR_USAGE, "sysctl '%s': the form is NAME=VALUE", value);
        sysctl->name = g_strndup(value, (gsize) (equals - value));
        sysctl->value = g_strdup(equals + 1);
        /* The name becomes a path below /proc/sys. */
        if (sysctl->name[strcspn(sysctl->name, "/ \t")] || strstr(sysctl->name, ".."))
                return error_set(error, KT_ERROR_USAGE, "sysctl '%s': '%s' is no name of a kernel parameter", value,
                                 sysctl->name);
        return find_namespace(sysctl->name, &sysctl->ns) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "sysctl '%s': '%s' belongs to the whole machine, not to a container; set it with "
                         "sysctl.d(5)",
                         value, sysctl->name);
}

Sysctl *sysctl_parse(const char *value, GError **error) {
        g_autoptr(Sysctl) sysctl = g_new0(Sysctl, 1);

        return parse(sysctl, value, error) ? g_steal_pointer(&sysctl) : NULL;
}
