/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/process.h"
#include "libstart/config/small-file.h"
#include "libstart/json/check.h"
#include "libstart/json/member.h"
#include "libstart/runtime-program/runtime-call.h"
#include "libstart/runtime-program/runtime-words.h"

#define FIRST_PASSED_FD 3
#define DEPTH_MAX 8

void runtime_program_execute(const GPtrArray *words) {
        static char *const environment[] = {
                (char *) "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                (char *) "HOME=/root",
                NULL,
        };

        (void) umask(S_IWGRP | S_IWOTH); /* its hooks have this one, too; a start's own is 0 */
        (void) execve(words->pdata[0], (char **) words->pdata, environment);
}

/* What is ours is closed on exec already; this is for what somebody else has left open. */
G_NORETURN static void execute(const GPtrArray *words, int n_passed, pid_t caller) {
        sigset_t none;

        /* It ends with its caller: who cleans up after one that was killed does not wait for it. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != caller)
                _exit(EXIT_KEYTURN);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        (void) syscall(SYS_close_range, FIRST_PASSED_FD + n_passed, ~0U, CLOSE_RANGE_CLOEXEC);
        runtime_program_execute(words);
        _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static pid_t fork_program(const RuntimeCall *call) {
        pid_t caller = getpid(), pid = fork();

        if (pid == 0)
                execute(call->words, call->n_passed, caller);
        return pid;
}

/* As a shell says it. */
#define KILLED_BY 128

/* A runtime that is killed before it has noted what it made leaves a process that its delete does not find. So this
 * one stands between the caller and the program, is the nearest subreaper of all that is made, and kills it where the
 * program fails, or the caller ends. It keeps the caller's descriptors open until then: who waits for these to be
 * closed comes when nothing is made any more. */
G_NORETURN static void call_for(const RuntimeCall *call, pid_t caller) {
        sigset_t all;
        pid_t program, ended;
        int status;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        (void) setpgid(0, 0);
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
                _exit(EXIT_KEYTURN);
        program = getppid() == caller ? fork_program(call) : -1;
        if (program < 0)
                _exit(EXIT_KEYTURN);
        while ((ended = process_wait(program, &status, WNOHANG)) == 0 && getppid() == caller)
                (void) sigwaitinfo(&all, NULL);
        if (ended > 0 && status == 0)
                _exit(0);
        process_kill_descendants();
        _exit(ended <= 0 ? EXIT_KEYTURN : process_exit_status(status));
}

static pid_t fork_guarded(const RuntimeCall *call) {
        pid_t caller = getpid(), pid = fork();

        if (pid == 0)
                call_for(call, caller);
        if (pid > 0)
                (void) setpgid(pid, pid); /* who kills all of a job kills the caller, and not this one */
        return pid;
}

/* One message of a line of JSON; NULL where it has none. Transfer full. */
static char *read_message(const char *line) {
        yajl_val tree = json_check(line, strlen(line), DEPTH_MAX, NULL) ? yajl_tree_parse(line, NULL, 0) : NULL;
        const char *level = tree ? json_member_string(tree, "level") : "";
        const char *message = tree ? json_member_string(tree, "msg") : "";
        char *result = *message && !g_str_equal(level, "info") && !g_str_equal(level, "debug") ? g_strdup(message) :
                                                                                                 NULL;

        yajl_tree_free(tree);
        return result;
}

/* The last one is why it ended. NULL where it said nothing. Transfer full. */
static char *find_message(const char *state_dir) {
        g_autofree char *path = g_build_filename(state_dir, RUNTIME_PROGRAM_LOG, NULL), *text = NULL;
        g_auto(GStrv) lines = NULL;
        char *message = NULL;

        if (!file_read(path, &text, NULL, NULL) || !text)
                return NULL;
        lines = g_strsplit(text, "\n", -1);
        for (guint i = g_strv_length(lines); i-- > 0 && !message;)
                message = read_message(lines[i]);
        return message;
}

/* 0: by none. */
static int find_signal(const RuntimeCall *call, int status) {
        if (WIFSIGNALED(status))
                return WTERMSIG(status);
        return call->takes_along && WEXITSTATUS(status) > KILLED_BY && WEXITSTATUS(status) < KILLED_BY + NSIG ?
                       WEXITSTATUS(status) - KILLED_BY :
                       0;
}

static bool fail(const RuntimeCall *call, int status, GError **error) {
        g_autofree char *message = find_message(call->state_dir);
        const char *program = call->words->pdata[0];
        int number = find_signal(call, status);

        if (message)
                return error_set(error, KT_ERROR_FAILED, "%s cannot %s: %s", program, call->what, message);
        if (number > 0)
                return error_set(error, KT_ERROR_FAILED, "%s cannot %s: it was killed by signal %d", program,
                                 call->what, number);
        return error_set(error, KT_ERROR_FAILED, "%s cannot %s: it ended with status %d%s", program, call->what,
                         WEXITSTATUS(status), WEXITSTATUS(status) == EXIT_NOT_FOUND ? " (is it installed?)" : "");
}

static bool wait_for(pid_t pid, bool reaps, int *ret_status) {
        pid_t ended;

        do
                ended = waitpid(reaps ? -1 : pid, ret_status, 0);
        while (ended != pid && (ended > 0 || errno == EINTR));
        return ended == pid;
}

bool runtime_program_call(const RuntimeCall *call, GError **error) {
        pid_t pid;
        int status;

        g_ptr_array_add(call->words, NULL);
        pid = call->takes_along ? fork_guarded(call) : fork_program(call);
        if (pid < 0)
                return error_set_errno(error, errno, "Cannot fork");
        if (!wait_for(pid, call->reaps, &status))
                return error_set_errno(error, errno, "Cannot wait for '%s'", (char *) call->words->pdata[0]);
        return status == 0 || fail(call, status, error);
}
