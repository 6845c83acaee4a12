/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/network-renewal.h"
#include "libstart/value/capability.h"

guint64 network_capabilities(const GPtrArray *values) {
        guint64 mask = 0;

        return capability_parse_all(values, &mask, NULL) ? mask : G_MAXUINT64;
}

static bool has_unmasked(const LaunchArgs *args) {
        for (guint i = 0; i < args->security_opt->len; i++)
                if (g_str_has_prefix(args->security_opt->pdata[i], "unmask"))
                        return true;
        return false;
}

/* Its interfaces, or /proc/sys/net, perhaps by a procfs that it mounts itself. */
static bool may_change(const LaunchArgs *args) {
        const guint64 mask = G_GUINT64_CONSTANT(1) << CAP_NET_ADMIN | G_GUINT64_CONSTANT(1) << CAP_SYS_ADMIN;

        return args->privileged == FLAG_TRUE || has_unmasked(args) || network_capabilities(args->cap_add) & mask;
}

bool network_is_renewed(const Conversion *container) {
        return g_str_has_suffix(container->source->name, ".pod") || may_change(container->args);
}
