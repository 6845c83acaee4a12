/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/directory.h"
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
        const runtime_spec_schema_config_schema_hooks *hooks = container->spec->hooks;
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
        if (hooks && hooks->create_container_len > 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "The hook '%s': '%s' leaves out createContainer hooks: remove Runtime=, or let no "
                                 "such hook be for this container",
                                 hooks->create_container[0]->path, program);
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

/* Not in a service, whose control group systemd kills. */
static bool is_by_hand(const RuntimeContainer *container) {
        return !container->request->detach && !container->request->state_dir;
}

static bool create(const RuntimeContainer *container, const char *bundle, const char *pid_file, GError **error) {
        RuntimeCall call = { .what = "create the container",
                             .n_passed = container->preserve_fds,
                             .takes_along = is_by_hand(container) };
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
        return run(container, words, call, error);
}

static void remove_container(const RuntimeContainer *container) {
        const char *words[] = { "delete", "--force", container->id, NULL };
        g_autoptr(GError) error = NULL;

        if (access(container->request->runtime, X_OK) < 0) /* as create has said */
                return;
        if (!run(container, words, (RuntimeCall) { .what = "remove the container", .reaps = true }, &error))
                log_warning("%s", error->message);
}

static pid_t read_pid(const RuntimeContainer *container, const char *path, GError **error) {
        g_autofree char *text = NULL;
        gint64 pid;

        if (g_file_get_contents(path, &text, NULL, NULL) &&
            g_ascii_string_to_signed(g_strchomp(text), 10, 2, G_MAXINT, &pid, NULL))
                return (pid_t) pid;
        return error_negative(error, KT_ERROR_FAILED,
                              "%s has made no container, and said no word: is it an OCI runtime?",
                              container->request->runtime);
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
        g_autofree char *state = g_build_filename(container->state_root, RUNTIME_PROGRAM_STATE, NULL);
        pid_t payload = -1;

        /* What a start by hand has left that was killed is in gVisor's way: no socket can be bound where one is. */
        if (!directory_remove_tree(state))
                return error_negative_errno(error, errno, "Cannot remove '%s'", state);
        if (!runtime_describe(container, error) || !program_mounts_make(container, mounts, error) ||
            !program_bundle_write(container, bundle, error))
                return -1;
        timing_mark(container->timing, TIMING_RUNTIME);
        if (create(container, bundle, pid_file, error))
                payload = read_pid(container, pid_file, error);
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

pid_t program_start(const RuntimeContainer *container, int *ret_exec_errno, GError **error) {
        *ret_exec_errno = 0;
        return become_parent(error) ? create_and_start(container, error) : -1;
}

/*
 * In the foreground
 */

#define GUARD_FD 3

typedef struct Guard {
        pid_t pid;
        int fd;
} Guard;

/* Of the caller's nothing stays open but the standard streams: who waits for its end waits for that. */
G_NORETURN static void remove_after(const RuntimeContainer *container, int caller) {
        char byte;

        if (dup2(caller, GUARD_FD) == GUARD_FD && syscall(SYS_close_range, GUARD_FD + 1, ~0U, 0) == 0 &&
            read(GUARD_FD, &byte, 1) == 0)
                remove_container(container);
        _exit(0);
}

/* By hand there is no systemd that kills a control group: where libstart is killed, another process removes the
 * container. A parent-death signal would not do, as the container is made by a program of others, and begins to run
 * when that has ended. Where its create is killed, it waits for what the call takes along, too. */
static bool begin_guard(const RuntimeContainer *container, Guard *ret, GError **error) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        ret->pid = fork();
        if (ret->pid == 0) {
                close(ends[1]);
                remove_after(container, ends[0]);
        }
        if (ret->pid > 0)
                (void) setpgid(ret->pid, ret->pid); /* who kills all of a job kills libstart, and not this one */
        ret->fd = ends[1];
        close(ends[0]);
        return ret->pid > 0 || error_set_errno(error, errno, "Cannot fork");
}

static void end_guard(Guard *guard) {
        if (guard->fd < 0)
                return;
        (void) !write(guard->fd, "", 1);
        close(guard->fd);
        (void) process_wait(guard->pid, NULL, 0);
}

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
        return process_exit_status(status);
}

int program_run(const RuntimeContainer *container, int stop_signal, GError **error) {
        g_autofree char *mounts = g_build_filename(container->state_root, MOUNTS, NULL);
        sigset_t all;
        pid_t payload;
        Guard guard = { .fd = -1 };
        int status;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        if (!become_parent(error) || (is_by_hand(container) && !begin_guard(container, &guard, error)))
                return -1;
        payload = create_and_start(container, error);
        status = payload > 0 ? wait_for(payload, &all, stop_signal, error) : -1;
        end_guard(&guard);
        program_mounts_detach(container, mounts);
        return status;
}
