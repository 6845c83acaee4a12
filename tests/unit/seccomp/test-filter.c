/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>

#include "libstart/seccomp/compile.h"
#include "seccomp-precompile/bpf-simulate.h"
#include "tests/unit/test-main.h"

#define ALLOW SECCOMP_RET_ALLOW
#define DENY(number) (SECCOMP_RET_ERRNO | (number))
#define CAP(number) (G_GUINT64_CONSTANT(1) << (number))

#define X86_64 AUDIT_ARCH_X86_64
#define I386 AUDIT_ARCH_I386
#define ARM64 AUDIT_ARCH_AARCH64
#define ARM AUDIT_ARCH_ARM
#define ON_ARM64 .native = SCMP_ARCH_AARCH64

#define RULES(text) "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 38, \"syscalls\": [" text "]}"
#define COMPARED(op, value, value2)                                                                       \
        RULES("{\"names\": [\"personality\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"index\": 0, " \
              "\"value\": " value ", \"valueTwo\": " value2 ", \"op\": \"" op "\"}]}")

#define WITH_ARCHES                                                                                        \
        "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"archMap\": [{\"architecture\": \"SCMP_ARCH_AARCH64\", " \
        "\"subArchitectures\": [\"SCMP_ARCH_ARM\"]}, {\"architecture\": \"SCMP_ARCH_X86_64\", "            \
        "\"subArchitectures\": [\"SCMP_ARCH_X86\", \"SCMP_ARCH_X32\"]}], \"syscalls\": [{\"names\": "      \
        "[\"getpid\", \"no_such_call\", \"socketcall\"], \"action\": \"SCMP_ACT_ALLOW\"}]}"

#define CONDITIONAL                                                                                         \
        RULES("{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {\"caps\": "            \
              "[\"CAP_SYS_ADMIN\", \"CAP_BPF\"]}}, "                                                        \
              "{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ERRNO\", \"errno\": \"EPERM\", \"excludes\": " \
              "{\"caps\": [\"CAP_SYS_ADMIN\", \"CAP_BPF\"]}}, "                                             \
              "{\"names\": [\"chroot\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {\"arches\": "       \
              "[\"arm64\", \"amd64\"]}}, "                                                                  \
              "{\"names\": [\"acct\"], \"action\": \"SCMP_ACT_ALLOW\", \"excludes\": {\"arches\": "         \
              "[\"amd64\"]}}, "                                                                             \
              "{\"names\": [\"ptrace\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {\"minKernel\": "    \
              "\"4.8\"}}, "                                                                                 \
              "{\"names\": [\"syslog\"], \"action\": \"SCMP_ACT_ALLOW\", \"excludes\": {\"minKernel\": \"4.8\"}}")

#define EQ_16 COMPARED("SCMP_CMP_EQ", "16", "0")
#define NE_16 COMPARED("SCMP_CMP_NE", "16", "0")
#define LT_16 COMPARED("SCMP_CMP_LT", "16", "0")
#define LE_16 COMPARED("SCMP_CMP_LE", "16", "0")
#define GE_16 COMPARED("SCMP_CMP_GE", "16", "0")
#define GT_16 COMPARED("SCMP_CMP_GT", "16", "0")
#define GT_4G COMPARED("SCMP_CMP_GT", "4294967296", "0")
#define MASKED_EQ_CLONE COMPARED("SCMP_CMP_MASKED_EQ", "2114060288", "0")
#define MASKED_EQ_20 COMPARED("SCMP_CMP_MASKED_EQ", "240", "32")

#define NETLINK_AUDIT_REFUSED                                                                     \
        RULES("{\"names\": [\"socket\"], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 22, "      \
              "\"args\": [{\"index\": 0, "                                                        \
              "\"value\": 16, \"op\": \"SCMP_CMP_EQ\"}, {\"index\": 2, \"value\": 9, \"op\": "    \
              "\"SCMP_CMP_EQ\"}]}, "                                                              \
              "{\"names\": [\"socket\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"index\": " \
              "0, \"value\": 16, "                                                                \
              "\"op\": \"SCMP_CMP_NE\"}]}")

#define NETLINK_AUDIT_ONLY                                                                           \
        RULES("{\"names\": [\"socket\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"index\": 0, " \
              "\"value\": 16, \"op\": \"SCMP_CMP_EQ\"}, {\"index\": 2, \"value\": 9, \"op\": "       \
              "\"SCMP_CMP_EQ\"}]}")

#define ONE_OR_TWO                                                                                   \
        RULES("{\"names\": [\"socket\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"index\": 0, " \
              "\"value\": 1, \"op\": \"SCMP_CMP_EQ\"}, {\"index\": 0, \"value\": 2, \"op\": "        \
              "\"SCMP_CMP_EQ\"}]}")

#define OPEN RULES("{\"names\": [\"open\", \"openat\"], \"action\": \"SCMP_ACT_ALLOW\"}")

#define PERSONALITY 135
#define SOCKET 41

typedef struct Verdict {
        const char *profile;
        guint64 caps;
        guint32 kernel;
        guint32 arch;
        int call;
        guint64 args[3];
        guint32 action;
        guint32 native; /* for a machine of this architecture; 0: SCMP_ARCH_X86_64 */
} Verdict;

/* Numbers of system calls are those of the architecture in the row. Each boundary stands with its
 * neighbours. */
static const Verdict verdicts[] = {
        /* comparisons */
        { EQ_16, 0, 0, X86_64, PERSONALITY, { 15 }, DENY(ENOSYS) },
        { EQ_16, 0, 0, X86_64, PERSONALITY, { 16 }, ALLOW },
        { EQ_16, 0, 0, X86_64, PERSONALITY, { 17 }, DENY(ENOSYS) },
        { EQ_16, 0, 0, X86_64, PERSONALITY, { 0x100000010 }, DENY(ENOSYS) },
        { NE_16, 0, 0, X86_64, PERSONALITY, { 15 }, ALLOW },
        { NE_16, 0, 0, X86_64, PERSONALITY, { 16 }, DENY(ENOSYS) },
        { NE_16, 0, 0, X86_64, PERSONALITY, { 0x100000010 }, ALLOW },
        { LT_16, 0, 0, X86_64, PERSONALITY, { 15 }, ALLOW },
        { LT_16, 0, 0, X86_64, PERSONALITY, { 16 }, DENY(ENOSYS) },
        { LT_16, 0, 0, X86_64, PERSONALITY, { 0x10000000f }, DENY(ENOSYS) },
        { LE_16, 0, 0, X86_64, PERSONALITY, { 16 }, ALLOW },
        { LE_16, 0, 0, X86_64, PERSONALITY, { 17 }, DENY(ENOSYS) },
        { GE_16, 0, 0, X86_64, PERSONALITY, { 15 }, DENY(ENOSYS) },
        { GE_16, 0, 0, X86_64, PERSONALITY, { 16 }, ALLOW },
        { GE_16, 0, 0, X86_64, PERSONALITY, { G_MAXUINT64 }, ALLOW },
        { GT_16, 0, 0, X86_64, PERSONALITY, { 16 }, DENY(ENOSYS) },
        { GT_16, 0, 0, X86_64, PERSONALITY, { 17 }, ALLOW },
        { GT_4G, 0, 0, X86_64, PERSONALITY, { 0xffffffff }, DENY(ENOSYS) },
        { GT_4G, 0, 0, X86_64, PERSONALITY, { 0x100000000 }, DENY(ENOSYS) },
        { GT_4G, 0, 0, X86_64, PERSONALITY, { 0x100000001 }, ALLOW },
        { MASKED_EQ_CLONE, 0, 0, X86_64, PERSONALITY, { 0x01fdffff }, ALLOW },
        { MASKED_EQ_CLONE, 0, 0, X86_64, PERSONALITY, { 0x02000000 }, DENY(ENOSYS) },
        { MASKED_EQ_20, 0, 0, X86_64, PERSONALITY, { 0x1f }, DENY(ENOSYS) },
        { MASKED_EQ_20, 0, 0, X86_64, PERSONALITY, { 0x20 }, ALLOW },
        { MASKED_EQ_20, 0, 0, X86_64, PERSONALITY, { 0x2f }, ALLOW },
        { MASKED_EQ_20, 0, 0, X86_64, PERSONALITY, { 0x30 }, DENY(ENOSYS) },

        /* two arguments: both must hold; the same one twice: either may */
        { NETLINK_AUDIT_REFUSED, 0, 0, X86_64, SOCKET, { 16, 3, 9 }, DENY(EINVAL) },
        { NETLINK_AUDIT_ONLY, 0, 0, X86_64, SOCKET, { 16, 3, 8 }, DENY(ENOSYS) },
        { ONE_OR_TWO, 0, 0, X86_64, SOCKET, { 1 }, ALLOW },
        { ONE_OR_TWO, 0, 0, X86_64, SOCKET, { 2 }, ALLOW },
        { ONE_OR_TWO, 0, 0, X86_64, SOCKET, { 3 }, DENY(ENOSYS) },

        /* architectures: native getpid is 39, i386's 20, x32's 0x40000027 */
        { WITH_ARCHES, 0, 0, X86_64, 39, { 0 }, ALLOW },
        { WITH_ARCHES, 0, 0, X86_64, 38, { 0 }, DENY(EPERM) },
        { WITH_ARCHES, 0, 0, X86_64, 40, { 0 }, DENY(EPERM) },
        { WITH_ARCHES, 0, 0, X86_64, 0x40000027, { 0 }, ALLOW },
        { WITH_ARCHES, 0, 0, X86_64, 0x40000026, { 0 }, DENY(EPERM) },
        { WITH_ARCHES, 0, 0, I386, 20, { 0 }, ALLOW },
        { WITH_ARCHES, 0, 0, I386, 21, { 0 }, DENY(EPERM) },
        { WITH_ARCHES, 0, 0, I386, 39, { 0 }, DENY(EPERM) },
        { WITH_ARCHES, 0, 0, I386, 102, { 0 }, ALLOW }, /* socketcall */
        { WITH_ARCHES, 0, 0, AUDIT_ARCH_ARM, 20, { 0 }, SECCOMP_RET_KILL_THREAD },
        { EQ_16, 0, 0, I386, 136, { 16 }, SECCOMP_RET_KILL_THREAD },

        /* conditions: bpf 321, chroot 161, acct 163, ptrace 101, syslog 103 */
        { CONDITIONAL, CAP(21) | CAP(39), 0, X86_64, 321, { 0 }, ALLOW },
        { CONDITIONAL, CAP(21), 0, X86_64, 321, { 0 }, DENY(ENOSYS) },
        { CONDITIONAL, CAP(39), 0, X86_64, 321, { 0 }, DENY(ENOSYS) },
        { CONDITIONAL, CAP(20) | CAP(40), 0, X86_64, 321, { 0 }, DENY(EPERM) },
        { CONDITIONAL, 0, 0, X86_64, 161, { 0 }, ALLOW },
        { CONDITIONAL, 0, 0, X86_64, 163, { 0 }, DENY(ENOSYS) },
        { CONDITIONAL, 0, 0x40007, X86_64, 101, { 0 }, DENY(ENOSYS) },
        { CONDITIONAL, 0, 0x40008, X86_64, 101, { 0 }, ALLOW },
        { CONDITIONAL, 0, 0x50000, X86_64, 101, { 0 }, ALLOW },
        { CONDITIONAL, 0, 0x40007, X86_64, 103, { 0 }, ALLOW },
        { CONDITIONAL, 0, 0x40008, X86_64, 103, { 0 }, DENY(ENOSYS) },

        /* the same for arm64: personality 92, getpid 172, chroot 51, acct 89; open is none of its calls */
        { EQ_16, 0, 0, ARM64, 92, { 15 }, DENY(ENOSYS), ON_ARM64 },
        { EQ_16, 0, 0, ARM64, 92, { 16 }, ALLOW, ON_ARM64 },
        { EQ_16, 0, 0, ARM64, PERSONALITY, { 16 }, DENY(ENOSYS), ON_ARM64 },
        { EQ_16, 0, 0, X86_64, PERSONALITY, { 16 }, SECCOMP_RET_KILL_THREAD, ON_ARM64 },
        { WITH_ARCHES, 0, 0, ARM64, 172, { 0 }, ALLOW, ON_ARM64 },
        { WITH_ARCHES, 0, 0, ARM64, 39, { 0 }, DENY(EPERM), ON_ARM64 },
        { WITH_ARCHES, 0, 0, ARM64, 0x40000000 | 172, { 0 }, DENY(EPERM), ON_ARM64 },
        { WITH_ARCHES, 0, 0, ARM, 20, { 0 }, ALLOW, ON_ARM64 },
        { WITH_ARCHES, 0, 0, ARM, 172, { 0 }, DENY(EPERM), ON_ARM64 },
        { WITH_ARCHES, 0, 0, I386, 20, { 0 }, SECCOMP_RET_KILL_THREAD, ON_ARM64 },
        { CONDITIONAL, 0, 0, ARM64, 51, { 0 }, ALLOW, ON_ARM64 },
        { CONDITIONAL, 0, 0, ARM64, 89, { 0 }, ALLOW, ON_ARM64 },
        { OPEN, 0, 0, ARM64, 56, { 0 }, ALLOW, ON_ARM64 },
        { OPEN, 0, 0, ARM64, 2, { 0 }, DENY(ENOSYS), ON_ARM64 },
        { OPEN, 0, 0, ARM64, -1, { 0 }, DENY(ENOSYS), ON_ARM64 },
};

static GBytes *compile(const char *text, const SeccompTarget *target, GError **error) {
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), error);

        return profile ? seccomp_filter_compile(profile, target, error) : NULL;
}

START_TEST(test_verdict) {
        const Verdict *row = &verdicts[_i];
        SeccompTarget target = { .bounding_caps = row->caps,
                                 .arch = row->native ?: SCMP_ARCH_X86_64,
                                 .kernel = row->kernel };
        struct seccomp_data data = { .nr = row->call, .arch = row->arch };
        g_autoptr(GError) error = NULL;
        g_autoptr(GBytes) filter = compile(row->profile, &target, &error);
        guint32 action;
        gsize size;

        ck_assert_msg(filter, "%s", error ? error->message : "");
        for (size_t i = 0; i < G_N_ELEMENTS(row->args); i++)
                data.args[i] = row->args[i];
        const struct sock_filter *program = g_bytes_get_data(filter, &size);
        ck_assert(bpf_simulate(program, size / sizeof *program, &data, &action));
        ck_assert_msg(action == row->action, "row %d: %08x instead of %08x", _i, action, row->action);
}
END_TEST

static const struct {
        const char *profile;
        const char *message;
} refused[] = {
        { "{\"defaultAction\": \"SCMP_ACT_NOTIFY\"}",
          "'defaultAction': SCMP_ACT_NOTIFY needs a program that answers for the kernel, and "
          "keyturn has none: use "
          "SCMP_ACT_ERRNO, or start this container with podman" },
        { RULES("{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ALLOW\"}, {\"names\": [\"mount\"], "
                "\"action\": "
                "\"SCMP_ACT_NOTIFY\"}"),
          "syscalls[1]: SCMP_ACT_NOTIFY needs a program that answers for the kernel, and keyturn "
          "has none: use "
          "SCMP_ACT_ERRNO, or start this container with podman" },
        { "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"architectures\": [\"SCMP_ARCH_VAX\"]}",
          "'SCMP_ARCH_VAX' is no architecture that libseccomp knows" },
        { "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"architectures\": [\"SCMP_ARCH_S390X\"]}", NULL },
};

START_TEST(test_refused) {
        SeccompTarget target = { .arch = SCMP_ARCH_X86_64 };
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(compile(refused[_i].profile, &target, &error));
        ck_assert_ptr_nonnull(error);
        if (refused[_i].message)
                ck_assert_str_eq(error->message, refused[_i].message);
}
END_TEST

/* A rule of SCMP_ACT_NOTIFY that is for other containers is none of this one's business. */
START_TEST(test_notify_for_others) {
        SeccompTarget target = { .arch = SCMP_ARCH_X86_64 };
        g_autoptr(GError) error = NULL;
        g_autoptr(GBytes) filter = compile(
                RULES("{\"names\": [\"mount\"], \"action\": \"SCMP_ACT_NOTIFY\", \"includes\": {\"caps\": "
                      "[\"CAP_SYS_ADMIN\"]}}"),
                &target, &error);

        ck_assert_msg(filter, "%s", error ? error->message : "");
}
END_TEST

START_TEST(test_too_many_instructions) {
        SeccompTarget target = { .arch = SCMP_ARCH_X86_64 };
        g_autoptr(GString) text = g_string_new("{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [");
        g_autoptr(GError) error = NULL;

        for (int i = 0; i < 2100; i++)
                g_string_append_printf(text,
                                       "%s{\"names\": [\"personality\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": "
                                       "[{\"index\": 0, \"value\": %d, \"op\": \"SCMP_CMP_EQ\"}, {\"index\": 1, "
                                       "\"value\": %d, \"op\": \"SCMP_CMP_EQ\"}]}",
                                       i ? "," : "", i, i);
        g_string_append(text, "]}");
        ck_assert_ptr_null(compile(text->str, &target, &error));
        ck_assert_msg(strstr(error->message, "the kernel takes 4096"), "%s", error->message);
}
END_TEST

START_TEST(test_same_bytes_every_time) {
        SeccompTarget target = { .arch = SCMP_ARCH_X86_64 };
        g_autoptr(GBytes) first = compile(WITH_ARCHES, &target, NULL), second = compile(WITH_ARCHES, &target, NULL);

        ck_assert(first && second && g_bytes_equal(first, second));
}
END_TEST

TEST_MAIN("filter", {
        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_verdict, 0, G_N_ELEMENTS(verdicts));
        tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(refused));
        tcase_add_test(tcase, test_notify_for_others);
        tcase_add_test(tcase, test_too_many_instructions);
        tcase_add_test(tcase, test_same_bytes_every_time);
})
