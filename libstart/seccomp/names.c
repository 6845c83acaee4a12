/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/seccomp/names.h"

static const struct {
        const char *name;
        guint32 action;
} actions[] = {
        { "SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW },
        { "SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO },
        { "SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD },
        { "SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS },
        { "SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD },
        { "SCMP_ACT_LOG", SECCOMP_RET_LOG },
        { "SCMP_ACT_NOTIFY", SECCOMP_RET_USER_NOTIF },
        { "SCMP_ACT_TRACE", SECCOMP_RET_TRACE },
        { "SCMP_ACT_TRAP", SECCOMP_RET_TRAP },
};

static const char *const operators[] = {
        [SCMP_CMP_EQ] = "SCMP_CMP_EQ", [SCMP_CMP_GE] = "SCMP_CMP_GE", [SCMP_CMP_GT] = "SCMP_CMP_GT",
        [SCMP_CMP_LE] = "SCMP_CMP_LE", [SCMP_CMP_LT] = "SCMP_CMP_LT", [SCMP_CMP_MASKED_EQ] = "SCMP_CMP_MASKED_EQ",
        [SCMP_CMP_NE] = "SCMP_CMP_NE",
};

/* Podman compares "arches" with the names of its libseccomp binding, and looks for sub-architectures on
 * those machines alone that have a map_name. */
static const struct {
        guint32 token;
        const char *go_name;
        const char *map_name;
} architectures[] = {
        { SCMP_ARCH_X86, "x86", NULL },
        { SCMP_ARCH_X86_64, "amd64", "SCMP_ARCH_X86_64" },
        { SCMP_ARCH_X32, "x32", NULL },
        { SCMP_ARCH_ARM, "arm", NULL },
        { SCMP_ARCH_AARCH64, "arm64", "SCMP_ARCH_AARCH64" },
        { SCMP_ARCH_MIPS, "mips", NULL },
        { SCMP_ARCH_MIPS64, "mips64", "SCMP_ARCH_MIPS64" },
        { SCMP_ARCH_MIPS64N32, "mips64n32", "SCMP_ARCH_MIPS64N32" },
        { SCMP_ARCH_MIPSEL, "mipsel", NULL },
        { SCMP_ARCH_MIPSEL64, "mipsel64", "SCMP_ARCH_MIPSEL64" },
        { SCMP_ARCH_MIPSEL64N32, "mipsel64n32", "SCMP_ARCH_MIPSEL64N32" },
        { SCMP_ARCH_PPC, "ppc", NULL },
        { SCMP_ARCH_PPC64, "ppc64", NULL },
        { SCMP_ARCH_PPC64LE, "ppc64le", NULL },
        { SCMP_ARCH_S390, "s390", NULL },
        { SCMP_ARCH_S390X, "s390x", "SCMP_ARCH_S390X" },
        { SCMP_ARCH_RISCV64, "riscv64", NULL },
};

bool seccomp_action_parse(const char *name, guint32 *ret_action, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
                if (g_str_equal(actions[i].name, name)) {
                        *ret_action = actions[i].action;
                        return true;
                }
        return error_set(error, KT_ERROR_FAILED, "'%s' is no action; SCMP_ACT_ALLOW and SCMP_ACT_ERRNO are two",
                         name);
}

const char *seccomp_action_name(guint32 action) {
        for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
                if (actions[i].action == (action & SECCOMP_RET_ACTION_FULL))
                        return actions[i].name;
        return NULL;
}

bool seccomp_action_has_errno(guint32 action) {
        action &= SECCOMP_RET_ACTION_FULL;
        return action == SECCOMP_RET_ERRNO || action == SECCOMP_RET_TRACE;
}

char *seccomp_action_describe(guint32 action) {
        guint32 data = action & SECCOMP_RET_DATA;
        const char *name = seccomp_action_name(action);

        if (!name)
                return g_strdup_printf("0x%08x", action);
        name += strlen("SCMP_ACT_");
        if (!seccomp_action_has_errno(action))
                return g_strdup(name);
        const char *errno_name = strerrorname_np((int) data);
        return errno_name ? g_strdup_printf("%s(%s)", name, errno_name) : g_strdup_printf("%s(%u)", name, data);
}

bool seccomp_operator_parse(const char *name, int *ret_op, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
                if (g_strcmp0(operators[i], name) == 0) {
                        *ret_op = (int) i;
                        return true;
                }
        return error_set(error, KT_ERROR_FAILED,
                         "'%s' is no comparison; there are SCMP_CMP_NE, LT, LE, EQ, GE, GT and MASKED_EQ", name);
}

const char *seccomp_operator_name(int op) {
        return operators[op];
}

/* Two names may have one number; libc knows the other name. */
static int find_errno_alias(const char *name) {
        if (g_str_equal(name, "EWOULDBLOCK"))
                return EWOULDBLOCK;
        if (g_str_equal(name, "EDEADLOCK"))
                return EDEADLOCK;
        if (g_str_equal(name, "ENOTSUP"))
                return ENOTSUP;
        return g_str_equal(name, "EOPNOTSUPP") ? EOPNOTSUPP : 0;
}

bool seccomp_errno_parse(const char *name, guint32 *ret_errno, GError **error) {
        guint64 number;

        if (g_ascii_string_to_unsigned(name, 10, 0, SECCOMP_RET_DATA, &number, NULL)) {
                *ret_errno = (guint32) number;
                return true;
        }
        int found = find_errno_alias(name);
        for (int i = 1; !found && i < 256; i++)
                if (g_strcmp0(strerrorname_np(i), name) == 0)
                        found = i;
        if (!found)
                return error_set(error, KT_ERROR_FAILED, "'%s' is no errno; names are as in errno(3)", name);
        *ret_errno = (guint32) found;
        return true;
}

const char *seccomp_arch_go_name(guint32 token) {
        for (size_t i = 0; i < G_N_ELEMENTS(architectures); i++)
                if (architectures[i].token == token)
                        return architectures[i].go_name;
        return NULL;
}

const char *seccomp_arch_map_name(guint32 token) {
        for (size_t i = 0; i < G_N_ELEMENTS(architectures); i++)
                if (architectures[i].token == token)
                        return architectures[i].map_name;
        return NULL;
}

bool seccomp_arch_parse(const char *name, guint32 *ret_token, GError **error) {
        const char *bare = g_str_has_prefix(name, "SCMP_ARCH_") ? name + strlen("SCMP_ARCH_") : name;
        g_autofree char *lower = g_ascii_strdown(bare, -1);
        guint32 token = seccomp_arch_resolve_name(lower);

        if (token == 0)
                return error_set(error, KT_ERROR_FAILED, "'%s' is no architecture that libseccomp knows", name);
        *ret_token = token;
        return true;
}
