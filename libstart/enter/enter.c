/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/keyring.h"
#include "libstart/base/user-view.h"
#include "libstart/enter/enter.h"
#include "libstart/enter/payload-limits.h"

bool enter_check_filter(Entry *entry, GError **error) {
        g_autofree char *file = g_build_filename(entry->root, entry->id, "seccomp.bpf", NULL);
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int) entry->payload);
        g_autofree char *status = NULL;

        if (entry->runtime) /* has it itself */
                return true;
        if (!g_file_get_contents(path, &status, NULL, error))
                return false;
        entry->is_filtered = !strstr(status, "\nSeccomp:\t0");
        if (entry->is_filtered && access(file, R_OK) < 0)
                return error_set(error, errno == ENOENT ? KT_ERROR_UNSUPPORTED : KT_ERROR_FAILED,
                                 "The payload has a seccomp filter, and '%s' cannot be read: %s", file,
                                 error_describe(errno));
        return true;
}

static bool copy_oom_score(pid_t payload, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%d/oom_score_adj", (int) payload);
        g_autofree char *score = NULL;
        _cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

        if (!g_file_get_contents(path, &score, NULL, error))
                return false;
        return (fd >= 0 && write(fd, score, strlen(score)) > 0) ||
               error_set_errno(error, errno, "Cannot write '/proc/self/oom_score_adj'");
}

/* So that the unit's limits count, and stopping it ends the command, too. A user may move no process from a
 * session to the manager's services: the kernel allows that only below what is the user's of both. The command
 * stays in the session then, and its limits. */
static bool enter_cgroup(const char *cgroup, GError **error) {
        g_autofree char *path = g_build_filename("/sys/fs/cgroup", cgroup, "cgroup.procs", NULL);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        return (cgroup[0] == '/' && fd >= 0 && write(fd, "0", 1) == 1) || (errno == EACCES && user_view_is_here()) ||
               error_set_errno(error, errno, "Cannot enter the container's control group ('%s')", path);
}

bool enter_prepare(const Entry *entry, const EnterProcess *process, GError **error) {
        (void) setlocale(LC_ALL, "C");
        return keyring_join_new(process->selinux_label, error) && copy_oom_score(entry->payload, error) &&
               enter_cgroup(entry->cgroup, error);
}

static int exit_status(int errnum) {
        return errnum == ENOENT                                         ? EXIT_NOT_FOUND :
               errnum == EACCES || errnum == EPERM || errnum == ENOEXEC ? EXIT_NOT_EXECUTABLE :
                                                                          EXIT_KEYTURN;
}

int enter_fail(libcrun_error_t *err, GError **error) {
        int errnum = (*err)->status;

        error_set(error, KT_ERROR_FAILED, "%s%s%s%s", errnum == EAGAIN ? ERROR_TOO_FEW_TASKS : "", (*err)->msg,
                  errnum > 0 ? ": " : "", errnum > 0 ? error_describe(errnum) : "");
        libcrun_error_release(err);
        return exit_status(errnum);
}

/* What libcrun forks cannot return an error: it writes it to standard error, tells this handler, and exits. What
 * became of it goes by way of memory that it shares. */
static struct Forked {
        int status;
        bool has_no_program;
} *forked;

static void log_output(int errnum, const char *message, int verbosity, void *arg) {
        if (verbosity != LIBCRUN_VERBOSITY_ERROR)
                return;
        forked->status = exit_status(errnum);
        forked->has_no_program = g_str_has_prefix(message, "executable file");
}

void enter_keep_restrictions(const Entry *entry, EnterProcess *process) {
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int) entry->payload);
        g_autofree char *status = NULL;

        if (g_file_get_contents(path, &status, NULL, NULL) && strstr(status, "\nNoNewPrivs:\t0"))
                return;
        process->no_new_privileges = true;
        process->no_new_privileges_present = true;
}

bool enter_protect(GError **error) {
        libcrun_error_t err = NULL;

        if (libcrun_ensure_cloned_binary(&err) >= 0)
                return true;
        (void) enter_fail(&err, error);
        return false;
}

/* What the container was started with is in what the payload has, unless it has less by now: all of it is left out
 * but for what was not copied. */
static void keep_ulimit(EnterProcess *process, const char *type) {
        size_t n = 0;

        for (size_t i = 0; i < process->rlimits_len; i++)
                if (g_strcmp0(process->rlimits[i]->type, type) == 0)
                        process->rlimits[n++] = process->rlimits[i];
        process->rlimits_len = n;
}

/* What libcrun forks has the same memory until it executes the command, and is seen by who may trace it. */
static void forget_environment(void) {
        for (char **variable = environ; variable && *variable; variable++)
                explicit_bzero(*variable, strlen(*variable));
        (void) clearenv();
}

int enter_run(const Entry *entry, EnterProcess *process, const char *console_socket, GError **error) {
        libcrun_error_t err = NULL;
        bool forks = true;
        libcrun_context_t context = {
                .state_root = entry->root,
                .id = entry->id,
                .output_handler = log_output,
                .fifo_exec_wait_fd = -1,
                .console_socket = console_socket,
                .need_seccomp = entry->is_filtered,
        };
        int r;

        enter_keep_restrictions(entry, process);
        forked = mmap(NULL, sizeof *forked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (forked == MAP_FAILED) {
                error_set_errno(error, errno, "Cannot map memory");
                return EXIT_KEYTURN;
        }
        forked->status = EXIT_KEYTURN;
        if (!payload_limits_copy(entry->payload, &forks, error))
                return EXIT_KEYTURN;
        keep_ulimit(process, forks ? NULL : "RLIMIT_NPROC");
        crun_set_output_handler(log_output, NULL);
        forget_environment();
        r = libcrun_container_exec(&context, context.id, process, &err);
        if (forked->has_no_program)
                error_set(error, KT_ERROR_NOT_FOUND, "The container has no '%s'", process->args[0]);
        return r >= 0 ? r : err ? enter_fail(&err, error) : forked->status;
}
