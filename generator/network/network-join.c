/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/network/network-join.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/user-namespace.h"
#include "libstart/base/paths.h"
#include "libstart/request/network-mode.h"
#include "libstart/value/capability.h"

/* All that it could gain, it has; or it is not known yet. */
static bool gains_nothing(const LaunchArgs *args) {
        return user_namespace_may_be_own(args) || args->privileged == FLAG_TRUE ||
               (network_capabilities(args->cap_add) & CAPABILITY_NETWORK) == CAPABILITY_NETWORK;
}

const SourceFile *network_join_find(const Conversion *container) {
        static const char of[] = "container:";
        const LaunchArgs *args = container->args;
        g_autofree char *service = NULL;
        const SourceFile *other;

        if (!args->network || !g_str_has_prefix(args->network, of) || (!container->is_users && gains_nothing(args)))
                return NULL;
        service = g_strconcat(args->network + strlen(of), ".service", NULL);
        other = unit_names_maker(container->names, service);
        return other && other->unit && !other->error && g_str_has_suffix(other->name, ".container") ? other : NULL;
}

/* Of a pod with a bridge only its start tells. */
static bool belongs_to_user_namespace(const LaunchArgs *args) {
        return user_namespace_is_own(args) && args->network &&
               (g_str_equal(args->network, "none") || g_str_has_prefix(args->network, "owned:") ||
                g_str_has_prefix(args->network, "ns:" PATH_POD "/"));
}

/* Itself, or with its pod; those of other pods are the user's. */
static bool has_ids_of_its_own(const Conversion *container) {
        const LaunchArgs *args = container->args;

        return container->pod.has_ids ||
               (user_namespace_may_be_own(args) && !g_str_has_prefix(args->userns ?: "", "ns:" PATH_POD "/"));
}

void network_join_check(Conversion *container, const Conversion *other) {
        const char *key = container->pod.file && !container->network.is_said ? "Pod" : "Network";
        const UnitLine *line = conversion_line(container, "Container", key) ?:
                                       conversion_line_with(container, "Container", "PodmanArgs", "container:");

        if (container->is_users) {
                if (container->pod.file)
                        conversion_problem(
                                container, line,
                                "a pod's containers have its ids, and the network of another container belongs "
                                "to those of that one: put both into the pod, or remove Pod=");
                else if (!other->is_refused && has_ids_of_its_own(other))
                        conversion_problem(container, line, "%s " NETWORK_MODE_OTHER_IDS, other->service->name);
                return;
        }
        if (!other->is_refused && belongs_to_user_namespace(other->args))
                conversion_problem(container, line, NETWORK_MODE_GAINS_RIGHTS);
}
