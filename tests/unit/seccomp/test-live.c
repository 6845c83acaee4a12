/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's verdicts: a process loads a filter and tries system calls under it. What the interpreter of
 * test-filter.c says of the same filter has to be what happens.
 */
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/seccomp/compile.h"
#include "seccomp-precompile/bpf-simulate.h"
#include "tests/unit/test-main.h"

#define LIVED 200 /* exit status: the call went through, whatever came of it */
#define X32_BIT 0x40000000

/* An allow-list cannot be tried without the calls that the trying itself needs. */
static const char *const rules[] = {
        "'names': ['exit_group', 'exit', 'getpid', 'rt_sigreturn'], 'action': 'SCMP_ACT_ALLOW'",
        "'name': 'personality', 'action': 'SCMP_ACT_ALLOW', 'args': [{'index': 0, 'value': 8, 'op': "
        "'SCMP_CMP_EQ'}]",
        "'name': 'socket', 'action': 'SCMP_ACT_ERRNO', 'errnoRet': 22, 'args': ["
        "{'index': 0, 'value': 16, 'op': 'SCMP_CMP_EQ'}, {'index': 2, 'value': 9, 'op': 'SCMP_CMP_EQ'}]",
        "'name': 'socket', 'action': 'SCMP_ACT_ALLOW', 'args': [{'index': 2, 'value': 9, 'op': "
        "'SCMP_CMP_NE'}]",
        "'name': 'bpf', 'action': 'SCMP_ACT_ERRNO', 'errno': 'EPERM', 'excludes': {'caps': "
        "['CAP_SYS_ADMIN']}",
        "'name': 'bpf', 'action': 'SCMP_ACT_ALLOW', 'includes': {'caps': ['CAP_SYS_ADMIN']}",
        "'name': 'gettid', 'action': 'SCMP_ACT_KILL_PROCESS'",
        "'name': 'getppid', 'action': 'SCMP_ACT_TRAP'",
        "'name': 'getuid', 'action': 'SCMP_ACT_TRACE'",
        "'name': 'getgid', 'action': 'SCMP_ACT_ERRNO', 'errnoRet': 0",
        "'name': 'geteuid', 'action': 'SCMP_ACT_LOG'",
        NULL,
};

/* In JSON quotes are double. */
static char *make_profile(void) {
        g_autofree char *joined = g_strjoinv("}, {", (char **) rules);
        char *text = g_strdup_printf("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrno': 'ENOSYS', 'archMap': ["
                                     "{'architecture': 'SCMP_ARCH_X86_64', 'subArchitectures': ['SCMP_ARCH_X86']}], "
                                     "'syscalls': [{%s}]}",
                                     joined);

        return g_strdelimit(text, "'", '"');
}

typedef struct Call {
        guint64 caps;
        long nr;
        long args[3];
        guint32 action;
} Call;

static const Call calls[] = {
        { 0, SYS_getpid, { 0 }, SECCOMP_RET_ALLOW },
        { 0, SYS_personality, { 7 }, SECCOMP_RET_ERRNO | ENOSYS },
        { 0, SYS_personality, { 8 }, SECCOMP_RET_ALLOW },
        { 0, SYS_personality, { 9 }, SECCOMP_RET_ERRNO | ENOSYS },
#if LONG_MAX > INT_MAX
        { 0, SYS_personality, { 0x100000008 }, SECCOMP_RET_ERRNO | ENOSYS },
#endif
        { 0, SYS_socket, { 16, 3, 9 }, SECCOMP_RET_ERRNO | EINVAL },
        { 0, SYS_socket, { 16, 3, 8 }, SECCOMP_RET_ALLOW },
        { 0, SYS_socket, { 15, 3, 9 }, SECCOMP_RET_ERRNO | ENOSYS },
        { 0, SYS_bpf, { -1 }, SECCOMP_RET_ERRNO | EPERM },
        { 1 << 21, SYS_bpf, { -1 }, SECCOMP_RET_ALLOW },
        { 0, SYS_gettid, { 0 }, SECCOMP_RET_KILL_PROCESS },
        { 0, SYS_getppid, { 0 }, SECCOMP_RET_TRAP },
        { 0, SYS_getuid, { 0 }, SECCOMP_RET_TRACE | EPERM }, /* nobody traces: ENOSYS */
        { 0, SYS_getgid, { 0 }, SECCOMP_RET_ERRNO },         /* does nothing, and succeeds */
        { 0, SYS_geteuid, { 0 }, SECCOMP_RET_LOG },
        { 0, SYS_mount, { 0 }, SECCOMP_RET_ERRNO | ENOSYS },
        { 0, 1000, { 0 }, SECCOMP_RET_ERRNO | ENOSYS },
        { 0, -1, { 0 }, SECCOMP_RET_ERRNO | ENOSYS },
#ifdef __x86_64__
        { 0, SYS_getpid | X32_BIT, { 0 }, SECCOMP_RET_KILL_THREAD },
#endif
};

static GBytes *compile(guint64 caps) {
        g_autofree char *text = make_profile();
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), &error);
        SeccompTarget target = seccomp_target_here(caps);
        GBytes *filter = profile ? seccomp_filter_compile(profile, &target, &error) : NULL;

        ck_assert_msg(filter, "%s", error ? error->message : "");
        return filter;
}

/* Nothing but what the filter allows may be called once it is loaded. */
static void G_GNUC_NORETURN try_call(GBytes *filter, const Call *call) {
        gsize size;
        const void *program = g_bytes_get_data(filter, &size);
        struct sock_fprog prog = { .len = (unsigned short) (size / sizeof(struct sock_filter)),
                                   .filter = (struct sock_filter *) program };

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
                _exit(255);
        errno = 0;
        (void) syscall(call->nr, call->args[0], call->args[1], call->args[2]);
        /* Errors that the kernel has for these arguments are none of the filter's. */
        _exit(call->action == SECCOMP_RET_ALLOW || call->action == SECCOMP_RET_LOG ?
                      (errno == ENOSYS || errno == EPERM ? errno : LIVED) :
                      errno);
}

static void check_status(const Call *call, int status) {
        switch (call->action & SECCOMP_RET_ACTION_FULL) {
        case SECCOMP_RET_KILL_PROCESS:
        case SECCOMP_RET_KILL_THREAD:
        case SECCOMP_RET_TRAP:
                ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "status %x", status);
                break;
        case SECCOMP_RET_ERRNO:
                ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == (int) (call->action & SECCOMP_RET_DATA),
                              "status %x", status);
                break;
        case SECCOMP_RET_TRACE:
                ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == ENOSYS, "status %x", status);
                break;
        default:
                ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == LIVED, "status %x", status);
        }
}

START_TEST(test_call) {
        const Call *call = &calls[_i];
        g_autoptr(GBytes) filter = compile(call->caps);
        struct seccomp_data data = { .nr = (int) call->nr, .arch = seccomp_arch_native() };
        guint32 action;
        int status;

        for (size_t i = 0; i < G_N_ELEMENTS(call->args); i++)
                data.args[i] = (guint64) call->args[i];
        ck_assert(bpf_simulate(g_bytes_get_data(filter, NULL), g_bytes_get_size(filter) / sizeof(struct sock_filter),
                               &data, &action));
        ck_assert_uint_eq(action, call->action);

        pid_t child = fork();
        if (child == 0)
                try_call(filter, call);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        check_status(call, status);
}
END_TEST

TEST_MAIN("live", { tcase_add_loop_test(tcase, test_call, 0, G_N_ELEMENTS(calls)); })
