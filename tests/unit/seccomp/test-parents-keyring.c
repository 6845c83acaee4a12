/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/keyctl.h>
#include <seccomp.h>

#include "libstart/seccomp/parents-keyring.h"
#include "seccomp-precompile/bpf-simulate.h"
#include "tests/unit/test-main.h"

#define REST SECCOMP_RET_LOG
#define FORBIDDEN (SECCOMP_RET_ERRNO | EPERM)

static guint32 ask(guint32 architecture, int call, guint64 operation) {
        static const struct sock_filter rest[] = { BPF_STMT(BPF_RET | BPF_K, REST) };
        /* x32 is another architecture for libseccomp only. */
        struct seccomp_data data = { .nr = call,
                                     .arch = architecture == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : architecture,
                                     .args = { operation } };
        g_autoptr(GBytes) filter = g_bytes_new_static(rest, sizeof rest);
        g_autoptr(GBytes) whole = seccomp_keep_parents_keyring(filter);
        guint32 action = 0;

        ck_assert(bpf_simulate(g_bytes_get_data(whole, NULL), g_bytes_get_size(whole) / sizeof(struct sock_filter),
                               &data, &action));
        return action;
}

/* By all that a process can call the kernel by, libseccomp's numbers. */
static const guint32 architectures[] = {
#ifdef __x86_64__
        SCMP_ARCH_X86_64,
        SCMP_ARCH_X86,
        SCMP_ARCH_X32,
#else
        SCMP_ARCH_AARCH64,
        SCMP_ARCH_ARM,
#endif
};

START_TEST(test_session_to_parent) {
        guint32 architecture = architectures[_i];
        int keyctl = seccomp_syscall_resolve_name_arch(architecture, "keyctl");

        ck_assert_int_gt(keyctl, 0);
        ck_assert_uint_eq(ask(architecture, keyctl, KEYCTL_SESSION_TO_PARENT), FORBIDDEN);
        /* The kernel does not look at the upper half. */
        ck_assert_uint_eq(ask(architecture, keyctl, 0x700000000 | KEYCTL_SESSION_TO_PARENT), FORBIDDEN);
}
END_TEST

START_TEST(test_all_else_is_the_filters) {
        guint32 architecture = architectures[_i];
        int keyctl = seccomp_syscall_resolve_name_arch(architecture, "keyctl");

        ck_assert_uint_eq(ask(architecture, keyctl, KEYCTL_SESSION_TO_PARENT - 1), REST);
        ck_assert_uint_eq(ask(architecture, keyctl, KEYCTL_SESSION_TO_PARENT + 1), REST);
        ck_assert_uint_eq(ask(architecture, keyctl + 1, KEYCTL_SESSION_TO_PARENT), REST);
        ck_assert_uint_eq(ask(SCMP_ARCH_S390, keyctl, KEYCTL_SESSION_TO_PARENT), REST);
}
END_TEST

TEST_MAIN("parents-keyring", {
        tcase_add_loop_test(tcase, test_session_to_parent, 0, G_N_ELEMENTS(architectures));
        tcase_add_loop_test(tcase, test_all_else_is_the_filters, 0, G_N_ELEMENTS(architectures));
})
