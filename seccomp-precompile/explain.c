/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/names.h"
#include "libstart/seccomp/profile-file.h"
#include "seccomp-precompile/bpf-simulate.h"
#include "seccomp-precompile/explain.h"

static const char *const operators[] = {
        [SCMP_CMP_NE] = "!=",
        [SCMP_CMP_LT] = "<",
        [SCMP_CMP_LE] = "<=",
        [SCMP_CMP_EQ] = "==",
        [SCMP_CMP_GE] = ">=",
        [SCMP_CMP_GT] = ">",
        [SCMP_CMP_MASKED_EQ] = "masked",
};

static void print_arguments(const SeccompRule *rule) {
        for (guint i = 0; i < rule->arguments->len; i++) {
                const SeccompArgument *argument = &g_array_index(rule->arguments, SeccompArgument, i);

                printable_print("%s argument %u ", i == 0 ? " if" : ",", argument->index);
                if (argument->op == (int) SCMP_CMP_MASKED_EQ)
                        printable_print("& 0x%" G_GINT64_MODIFIER "x == 0x%" G_GINT64_MODIFIER "x", argument->value,
                                        argument->value2);
                else
                        printable_print("%s 0x%" G_GINT64_MODIFIER "x", operators[argument->op], argument->value);
        }
}

static void print_rule(const SeccompRule *rule, const SeccompTarget *target) {
        g_autofree char *action = seccomp_action_describe(rule->action);

        printable_print("  syscalls[%zu]: %s", rule->position, action);
        print_arguments(rule);
        printable_print(" (%s)\n", seccomp_rule_obstacle(rule, target) ?: "holds");
}

static void print_rules(const SeccompProfile *profile, const SeccompTarget *target, const char *call) {
        g_autofree char *action = seccomp_action_describe(profile->default_action);
        guint n = 0;

        for (guint i = 0; i < profile->rules->len; i++) {
                const SeccompRule *rule = profile->rules->pdata[i];

                if (!g_ptr_array_find_with_equal_func(rule->names, call, g_str_equal, NULL))
                        continue;
                print_rule(rule, target);
                n++;
        }
        printable_print("  %s: %s\n", n > 0 ? "otherwise" : "no rule speaks of it", action);
}

static bool parse_call(const char *const *words, struct seccomp_data *ret, GError **error) {
        struct seccomp_data data = { .nr = seccomp_syscall_resolve_name(words[0]), .arch = seccomp_arch_native() };

        if (data.nr < 0)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no system call that libseccomp knows on this machine", words[0]);
        for (size_t i = 0; words[i + 1]; i++) {
                char *end;

                if (i == G_N_ELEMENTS(data.args))
                        return error_set(error, KT_ERROR_USAGE, "A system call has no more than %zu arguments", i);
                data.args[i] = g_ascii_strtoull(words[i + 1], &end, 0);
                if (end == words[i + 1] || *end)
                        return error_set(error, KT_ERROR_USAGE, "'%s' is no number", words[i + 1]);
        }
        *ret = data;
        return true;
}

static bool print_verdict(GBytes *filter, const struct seccomp_data *data, const char *const *words, GError **error) {
        gsize size;
        const struct sock_filter *program = g_bytes_get_data(filter, &size);
        g_autofree char *call = g_strjoinv(" ", (char **) words), *action = NULL;
        guint32 verdict;

        if (!bpf_simulate(program, size / sizeof *program, data, &verdict))
                return error_set(
                        error, KT_ERROR_FAILED,
                        "The filter that was compiled is broken, so that it does not say what becomes of '%s': "
                        "this is a mistake of keyturn's, not of the profile's; please report it",
                        call);
        action = seccomp_action_describe(verdict);
        printable_print("%s: %s\n", call, action);
        return true;
}

bool explain(const char *root, const char *path, guint64 bounding_caps, const char *const *words, GError **error) {
        SeccompTarget target = seccomp_target_here(bounding_caps);
        struct seccomp_data data;
        g_autoptr(SeccompProfile) profile = seccomp_profile_load(root, path, error);

        if (!profile || !parse_call(words, &data, error))
                return false;
        g_autoptr(GBytes) filter = seccomp_filter_compile(profile, &target, error);
        if (!filter)
                return false;
        printable_print("%s, %s, kernel %u.%u:\n", path, seccomp_arch_go_name(target.arch), target.kernel >> 16,
                        target.kernel & 0xffff);
        print_rules(profile, &target, words[0]);
        return print_verdict(filter, &data, words, error);
}
