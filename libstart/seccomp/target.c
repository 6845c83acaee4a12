/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <seccomp.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "libstart/seccomp/names.h"
#include "libstart/seccomp/target.h"

SeccompTarget seccomp_target_here(guint64 bounding_caps) {
        SeccompTarget target = { .bounding_caps = bounding_caps, .arch = seccomp_arch_native() };
        struct utsname name;
        unsigned major, minor;

        if (uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2)
                target.kernel = seccomp_kernel_version(major, minor);
        return target;
}

static bool names_arch(const SeccompCondition *condition, guint32 arch) {
        const char *name = seccomp_arch_go_name(arch);

        return name && g_ptr_array_find_with_equal_func(condition->arches, name, g_str_equal, NULL);
}

const char *seccomp_rule_obstacle(const SeccompRule *rule, const SeccompTarget *target) {
        const SeccompCondition *in = &rule->includes, *ex = &rule->excludes;

        if (names_arch(ex, target->arch))
                return "excluded for this architecture";
        if (ex->caps & target->bounding_caps)
                return "excluded for containers with one of its capabilities";
        if (ex->min_kernel && target->kernel >= ex->min_kernel)
                return "excluded for kernels as new as this";
        if (in->arches->len > 0 && !names_arch(in, target->arch))
                return "only for other architectures";
        if ((in->caps & target->bounding_caps) != in->caps)
                return "only for containers with more capabilities";
        if (in->min_kernel && target->kernel < in->min_kernel)
                return "only for newer kernels";
        return NULL;
}

GPtrArray *seccomp_profile_architectures(const SeccompProfile *profile, const SeccompTarget *target) {
        GPtrArray *names = g_ptr_array_new();
        const char *native = seccomp_arch_map_name(target->arch);

        g_ptr_array_extend(names, profile->architectures, NULL, NULL);
        for (guint i = 0; native && i < profile->arch_map->len; i++) {
                const SeccompArchMap *map = profile->arch_map->pdata[i];

                if (g_str_equal(map->architecture, native)) {
                        g_ptr_array_extend(names, map->sub_architectures, NULL, NULL);
                        break; /* the first one counts */
                }
        }
        return names;
}
