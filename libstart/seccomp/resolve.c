/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <seccomp.h>

#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/names.h"
#include "libstart/seccomp/profile-file.h"
#include "libstart/seccomp/resolve.h"

typedef runtime_spec_schema_config_linux_seccomp Resolved;
typedef runtime_spec_schema_defs_linux_syscall Call;
typedef runtime_spec_schema_defs_linux_syscall_arg Argument;

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Resolved, free_runtime_spec_schema_config_linux_seccomp)

static char **copy_names(const GPtrArray *names, size_t *ret_length) {
        char **copy = g_new0(char *, names->len + 1);

        for (guint i = 0; i < names->len; i++)
                copy[i] = g_strdup(names->pdata[i]);
        *ret_length = names->len;
        return copy;
}

static Argument *make_argument(const SeccompArgument *argument) {
        Argument *made = g_new0(Argument, 1);

        made->index = argument->index;
        made->op = g_strdup(seccomp_operator_name(argument->op));
        made->value = argument->value;
        made->value_two = argument->op == SCMP_CMP_MASKED_EQ ? argument->value2 : 0;
        made->index_present = made->value_present = true;
        made->value_two_present = argument->op == SCMP_CMP_MASKED_EQ;
        return made;
}

static Call *make_call(const SeccompRule *rule) {
        Call *call = g_new0(Call, 1);

        call->names = copy_names(rule->names, &call->names_len);
        call->action = g_strdup(seccomp_action_name(rule->action));
        call->errno_ret = rule->action & SECCOMP_RET_DATA;
        call->errno_ret_present = seccomp_action_has_errno(rule->action);
        call->args = g_new0(Argument *, rule->arguments->len + 1);
        call->args_len = rule->arguments->len;
        for (guint i = 0; i < rule->arguments->len; i++)
                call->args[i] = make_argument(&g_array_index(rule->arguments, SeccompArgument, i));
        return call;
}

/* The native one is named, too: to some runtimes a list without it means that it has no filter. */
static void add_architectures(Resolved *resolved, const SeccompProfile *profile, const SeccompTarget *target) {
        g_autoptr(GPtrArray) names = seccomp_profile_architectures(profile, target);
        const char *native = seccomp_arch_map_name(target->arch);

        if (names->len > 0 && native && !g_ptr_array_find_with_equal_func(names, native, g_str_equal, NULL))
                g_ptr_array_insert(names, 0, (char *) native);
        resolved->architectures = copy_names(names, &resolved->architectures_len);
}

Resolved *seccomp_profile_resolve(const SeccompProfile *profile, const SeccompTarget *target, GError **error) {
        g_autoptr(Resolved) resolved = g_new0(Resolved, 1);

        if (!seccomp_filter_check(profile, error))
                return NULL;
        resolved->default_action = g_strdup(seccomp_action_name(profile->default_action));
        resolved->default_errno_ret = profile->default_action & SECCOMP_RET_DATA;
        resolved->default_errno_ret_present = seccomp_action_has_errno(profile->default_action);
        add_architectures(resolved, profile, target);
        resolved->syscalls = g_new0(Call *, profile->rules->len + 1);
        for (guint i = 0; i < profile->rules->len; i++) {
                const SeccompRule *rule = profile->rules->pdata[i];

                if (rule->action != profile->default_action && !seccomp_rule_obstacle(rule, target))
                        resolved->syscalls[resolved->syscalls_len++] = make_call(rule);
        }
        return g_steal_pointer(&resolved);
}

Resolved *seccomp_resolved_for(const char *root, const char *profile, guint64 bounding_caps, GError **error) {
        g_autofree char *path = profile ? g_strdup(profile) : seccomp_default_profile_path(root, error);
        g_autoptr(SeccompProfile) parsed = path ? seccomp_profile_load(root, path, error) : NULL;
        SeccompTarget target = seccomp_target_here(bounding_caps);
        Resolved *resolved = parsed ? seccomp_profile_resolve(parsed, &target, error) : NULL;

        if (parsed && !resolved)
                g_prefix_error(error, "Seccomp profile '%s': ", path);
        return resolved;
}
