/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/keyring.h"
#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/program-start/program-bundle.h"
#include "libstart/program-start/program-mounts.h"
#include "libstart/program-start/program-start.h"
#include "libstart/runtime-program/runtime-call.h"
#include "libstart/runtime-program/runtime-words.h"
#include "libstart/runtime/runtime.h"
#include "libstart/value/runtime-kind.h"

/* The order of the OCI runtime specification: create makes the container, with a first process that waits; start lets
 * it execute the payload, and returns. No process of the runtime's stays, but what is the container itself (gVisor's
 * sandbox): who called it is the nearest subreaper, and so the first process becomes its child. */

#define BUNDLE ".private/bundle"
#define MOUNTS ".private/mounts"
#define PID_FILE ".private/pid"

bool program_check(const RuntimeContainer *container, bool is_systemd, GError **error) {
        const char *program = container->request->runtime;
        RuntimeKind kind = runtime_kind_find(program);

        if (is_systemd && kind != RUNTIME_CRUN)
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "The payload is an init, which '%s' has no control group for: remove Runtime=, or say "
                        "PodmanArgs=--systemd=false",
                        program);
        if (kind != RUNTIME_RUNSC)
                return true;
        if (container->preserve_fds > 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s' passes no sockets into its sandbox: remove Runtime=, or the .socket unit",
                                 program);
        return !container->spec->process->selinux_label ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' does not know SELinux: remove Runtime=, or give its sandbox no label of a container's "
                         "(SecurityLabelDisable=true)",
                         program);
}

/* `command` ends with NULL. */
static bool run(const RuntimeContainer *container, const char *const *command, RuntimeCall call, GError **error) {
        g_autoptr(GPtrArray) words = runtime_program_start_words(container->request, container->state_root);

        for (; *command; command++)
                g_ptr_array_add(words, g_strdup(*command));
        call.words = words;
        call.state_dir = container->state_root;
        return runtime_program_call(&call, error);
}

/* The session keyring is ours: one that has a name could have been made before, by anybody (keyring.h). Names are
 * those of a user namespace, and there it is to be its root's. */
static bool has_own_keyring(const RuntimeContainer *container) {
        RuntimeKind kind = runtime_kind_find(container->request->runtime);

        return (kind == RUNTIME_CRUN || kind == RUNTIME_RUNC) && !container->userns->uids;
}

static bool create(const RuntimeContainer *container, const char *bundle, const char *pid_file, GError **error) {
        g_autofree char *preserve = g_strdup_printf("--preserve-fds=%d", container->preserve_fds);
        const char *words[] = { "create", "--bundle", bundle, "--pid-file", pid_file, NULL, NULL, NULL, NULL };
        size_t n = 5;

        if (has_own_keyring(container)) {
                if (!keyring_join_new(container->spec->process->selinux_label, error))
                        return false;
                words[n++] = "--no-new-keyring";
        }
        if (container->preserve_fds > 0)
                words[n++] = preserve;
        words[n] = container->id;
        return run(container, words,
                   (RuntimeCall) { .what = "create the container", .n_passed = container->preserve_fds }, error);
}

static void remove_container(const RuntimeContainer *container) {
        const char *words[] = { "delete", "--force", container->id, NULL };
        g_autoptr(GError) error = NULL;

        if (!run(container, words, (RuntimeCall) { .what = "remove the container", .reaps = true }, &error))
                log_warning("%s", error->message);
}

static pid_t read_pid(const char *path, GError **error) {
        g_autofree char *text = NULL;
        gint64 pid;

        if (!g_file_get_contents(path, &text, NULL, error))
                return -1;
        if (g_ascii_string_to_signed(g_strchomp(text), 10, 2, G_MAXINT, &pid, NULL))
                return (pid_t) pid;
        error_set(error, KT_ERROR_FAILED, "The runtime has written no process to '%s'", path);
        return -1;
}

/* The name of a process is there until it has been waited for. Transfer full. */
static char *read_name(pid_t process) {
        g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int) process);
        char *name = NULL;

        (void) g_file_get_contents(path, &name, NULL, NULL);
        return name;
}

static bool has_ended(pid_t process, siginfo_t *ret) {
        *ret = (siginfo_t) { 0 };
        return waitid(P_PID, (id_t) process, ret, WEXITED | WNOHANG | WNOWAIT) < 0 || ret->si_pid != 0;
}

#define LOOK_USEC 100

/* The next execve(2) that succeeds is the payload's, and gives the process another name than the runtime's own
 * (`name`) has. It is not traced for that: a tracer would have to let it go on at each of the signals that Go's
 * runtime sends to itself, while the runtime waits for it. */
static bool await_exec(const RuntimeContainer *container, pid_t payload, const char *name, GError **error) {
        for (;;) {
                siginfo_t end;
                bool ended = has_ended(payload, &end);
                g_autofree char *now = read_name(payload);

                if (g_strcmp0(now, name) != 0)
                        return true;
                if (ended)
                        return error_set(error, KT_ERROR_NOT_EXECUTABLE,
                                         "Cannot execute '%s' in the container: its first process ended with status "
                                         "%d before that",
                                         container->spec->process->args[0],
                                         end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status);
                g_usleep(LOOK_USEC);
        }
}

/* gVisor's start returns when the payload has begun; nobody knows it of others. */
static bool start(const RuntimeContainer *container, pid_t payload, GError **error) {
        const char *words[] = { "start", container->id, NULL };
        RuntimeKind kind = runtime_kind_find(container->request->runtime);
        g_autofree char *name = kind == RUNTIME_CRUN || kind == RUNTIME_RUNC ? read_name(payload) : NULL;

        return run(container, words, (RuntimeCall) { .what = "start the container" }, error) &&
               (!name || await_exec(container, payload, name, error));
}

static pid_t create_and_start(const RuntimeContainer *container, GError **error) {
        g_autofree char *bundle = g_build_filename(container->state_root, BUNDLE, NULL);
        g_autofree char *mounts = g_build_filename(container->state_root, MOUNTS, NULL);
        g_autofree char *pid_file = g_build_filename(container->state_root, PID_FILE, NULL);
        pid_t payload = -1;

        if (!runtime_describe(container, error) || !program_mounts_make(container, mounts, error) ||
            !program_bundle_write(container, bundle, error))
                return -1;
        timing_mark(container->timing, TIMING_RUNTIME);
        if (create(container, bundle, pid_file, error))
                payload = read_pid(pid_file, error);
        timing_mark(container->timing, TIMING_EXEC);
        if (payload > 0 && runtime_adopt(container, payload, error) && start(container, payload, error))
                return payload;
        remove_container(container);
        return -1;
}

static bool become_parent(GError **error) {
        return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ||
               error_set_errno(error, errno, "Cannot become the parent of the container");
}

/* Where libstart is killed this process goes, too: the delete of ExecStopPost= waits for the container's first
 * process to be gone, and this would be who has to wait for that. */
pid_t program_start(const RuntimeContainer *container, int *ret_exec_errno, GError **error) {
        *ret_exec_errno = 0;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        return become_parent(error) ? create_and_start(container, error) : -1;
}

/*
 * In the foreground
 */

static int wait_for(pid_t payload, const sigset_t *all, int stop_signal, GError **error) {
        int status, number;
        pid_t ended;

        while ((ended = process_wait(payload, &status, WNOHANG)) == 0) {
                number = sigwaitinfo(all, NULL);
                if (number > 0 && number != SIGCHLD)
                        (void) kill(payload, number == SIGTERM ? stop_signal : number);
        }
        if (ended < 0) {
                error_set_errno(error, errno, "Cannot wait for the payload");
                (void) kill(payload, SIGKILL);
                return -1;
        }
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int program_run(const RuntimeContainer *container, int stop_signal, GError **error) {
        sigset_t all;
        pid_t payload;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        payload = become_parent(error) ? create_and_start(container, error) : -1;
        if (payload < 0)
                return -1;
        return wait_for(payload, &all, stop_signal, error);
}
