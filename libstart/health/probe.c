/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/enter/enter-program.h"
#include "libstart/health/probe.h"

/* The threat: the command is the payload's program, and does what it wants to keep whoever waits for it busy. So
 *  - its end is that of the process which libcrun runs in, not of its output: it may close that, or leave it to
 *    others;
 *  - all that it starts stays in a cgroup of its own below the container's, whatever it forks, and is killed there;
 *  - its output is read by a process in that cgroup, too, and only the beginning is kept. Whoever writes to a pipe
 *    can hold the kernel's lock of it, for which read(2), FIONREAD and the last close(2) wait, and nothing ends that
 *    wait, not even SIGKILL. So we never have a descriptor of the pipe. What was read is in memory that the reader
 *    shares with us, and it is not waited for where it does not end. As it is none of our unit's processes,
 *    systemd does not wait, either. */

struct ProbeOutput {
        atomic_size_t length;
        char text[];
};

#define GROUP_FD (STDERR_FILENO + 1)

/* From SIGKILL to the end, for what only wants a processor. */
#define PATIENCE_USEC (2 * G_TIME_SPAN_SECOND)

/* Of the directory that was made for this command: a later start of the container has another one. */
static int open_file(const Probe *probe, const char *name, int flags) {
        return openat(probe->group, name, flags | O_CLOEXEC);
}

/* Before Linux 5.14. What forks faster than this is stopped by the container's TasksMax=. */
static void kill_one_by_one(const Probe *probe) {
        for (int round = 0; round < 100; round++) {
                _cleanup_close_ int fd = open_file(probe, "cgroup.procs", O_RDONLY);
                char text[16384];
                ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
                g_auto(GStrv) pids = NULL;

                if (n <= 0)
                        return;
                text[n] = '\0';
                pids = g_strsplit(g_strchomp(text), "\n", -1);
                for (char **pid = pids; *pid; pid++)
                        if (g_ascii_strtoll(*pid, NULL, 10) > 1)
                                (void) kill((pid_t) g_ascii_strtoll(*pid, NULL, 10), SIGKILL);
                g_usleep(1000);
        }
}

static void kill_group(const Probe *probe) {
        _cleanup_close_ int fd = open_file(probe, "cgroup.kill", O_WRONLY);

        if (fd < 0)
                kill_one_by_one(probe);
        else
                (void) !write(fd, "1", 1);
}

static bool make_group(Probe *probe, GError **error) {
        g_autofree char *path = g_build_filename("/sys/fs/cgroup", probe->entry->cgroup, NULL);

        if (mkdir(path, 0755) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make the control group '%s'", path);
        probe->group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return probe->group >= 0 || error_set_errno(error, errno, "Cannot open the control group '%s'", path);
}

/*
 * The process that reads
 */

static void keep(const Probe *probe, const char *text, gsize n) {
        ProbeOutput *output = probe->output;
        gsize length = atomic_load(&output->length);

        n = MIN(n, probe->max_output - length);
        memcpy(output->text + length, text, n);
        atomic_store(&output->length, length + n);
}

/* At most `max` bytes, which are there. Returns how many; 0 at the end. */
static gsize take_output(const Probe *probe, int pipe, gsize max) {
        char buffer[65536];
        ssize_t n = read(pipe, buffer, MIN(max, sizeof buffer));

        if (n > 0)
                keep(probe, buffer, (gsize) n);
        return (gsize) MAX(n, 0);
}

/* What was written before the end, and nothing that comes later. */
static void take_rest(const Probe *probe, int pipe) {
        int there = 0;

        if (ioctl(pipe, FIONREAD, &there) < 0)
                return;
        while (there > 0) {
                gsize n = take_output(probe, pipe, (gsize) there);

                if (n == 0)
                        return;
                there -= (int) n;
        }
}

static void read_until_end(const Probe *probe, int process, int pipe) {
        struct pollfd polls[] = { { .fd = process, .events = POLLIN }, { .fd = pipe, .events = POLLIN } };

        for (;;) {
                if (poll(polls, G_N_ELEMENTS(polls), -1) < 0)
                        continue;
                if (polls[0].revents)
                        break;
                if (polls[1].revents && take_output(probe, pipe, G_MAXSIZE) == 0)
                        polls[1].fd = -1;
        }
        take_rest(probe, pipe);
}

/* Not /dev/null: libcrun gives the standard streams to the container's user, and the host's /dev/null would be
 * his. */
static int open_nothing(void) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -1;
        close(ends[1]);
        return ends[0];
}

/* The process that runs libcrun. It has nothing of ours; what it says is part of the output. */
G_NORETURN static void run_inside(const Probe *probe, EnterProcess *process, int output) {
        int nothing = open_nothing(), status = EXIT_KEYTURN;
        g_autoptr(GError) error = NULL;

        if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
            dup2(output, STDERR_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
                _exit(status);
        status = enter_command(probe->entry, process, NULL, &error);
        if (g_error_matches(error, KT_ERROR, KT_ERROR_NOT_FOUND))
                dprintf(STDERR_FILENO, "%s. A check without a shell is a JSON array: [\"/program\", \"word\"]\n",
                        error->message);
        else if (error)
                dprintf(STDERR_FILENO, "%s\n", error->message);
        _exit(status);
}

/* One of the caller's that does not outlive it, as fork(2). */
static pid_t fork_bound(void) {
        pid_t caller = getpid(), pid = fork();

        if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != caller))
                _exit(EXIT_KEYTURN);
        return pid;
}

static int run_command(const Probe *probe, EnterProcess *process, GError **error) {
        int ends[2], pidfd, status;
        pid_t pid;

        /* Nothing that libcrun forks into the container is to have it. */
        (void) madvise(probe->output, sizeof *probe->output + probe->max_output, MADV_DONTFORK);
        pid = pipe2(ends, O_CLOEXEC) < 0 ? -1 : fork_bound();
        if (pid == 0)
                run_inside(probe, process, ends[1]);
        pidfd = pid < 0 ? -1 : (int) syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0) {
                error_set_errno(error, errno, "Cannot start a process");
                return EXIT_KEYTURN; /* which ends what it has started */
        }
        close(ends[1]);
        read_until_end(probe, pidfd, ends[0]);
        if (process_wait(pid, &status, 0) == pid)
                return process_exit_status(status);
        error_set_errno(error, errno, "Cannot wait for the command");
        return EXIT_KEYTURN;
}

static bool is_populated(const Probe *probe) {
        _cleanup_close_ int fd = open_file(probe, "cgroup.events", O_RDONLY);
        char text[256];
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

        text[MAX(n, 0)] = '\0';
        return strstr(text, "populated 1");
}

/* An earlier check may have been killed alone, or given up. At most one process may be there that cannot be killed.
 * So this check waits until the earlier one has ended, and counts as too slow if that takes too long. */
static void wait_for_others(const Probe *probe) {
        static const char why[] = "What a check before this one has started cannot be killed\n";

        if (!is_populated(probe))
                return;
        keep(probe, why, strlen(why));
        do {
                kill_group(probe);
                g_usleep(10000);
        } while (is_populated(probe));
        atomic_store(&probe->output->length, 0);
}

/* It has no descriptor of another check's, as it can be there for longer than we are. */
G_NORETURN static void run_reader(Probe *probe) {
        g_autoptr(GError) error = NULL;
        libcrun_container_t *container;
        libcrun_error_t err = NULL;
        EnterProcess *process;
        int status = EXIT_KEYTURN;

        if (setsid() < 0 || dup2(probe->group, GROUP_FD) < 0 || close_range(GROUP_FD + 1, ~0U, 0) < 0)
                _exit(status);
        probe->group = GROUP_FD;
        wait_for_others(probe);
        container = libcrun_container_load_from_file(probe->config, &err);
        if (container) {
                process = container->container_def->process;
                process->args = probe->command;
                process->args_len = g_strv_length(probe->command);
                process->terminal = false;
                if (enter_prepare(probe->entry, process, &error))
                        status = run_command(probe, process, &error);
        } else
                (void) enter_fail(&err, &error);
        if (error)
                keep(probe, error->message, strlen(error->message));
        _exit(status);
}

/*
 * Whoever waits for it
 */

static bool start(Probe *probe, GError **error) {
        void *output = mmap(NULL, sizeof *probe->output + probe->max_output, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (output == MAP_FAILED)
                return error_set_errno(error, errno, "Cannot map memory");
        probe->output = output;
        probe->pid = fork_bound();
        if (probe->pid == 0)
                run_reader(probe);
        if (probe->pid < 0)
                return error_set_errno(error, errno, "Cannot fork");
        probe->process = (int) syscall(SYS_pidfd_open, probe->pid, 0);
        if (probe->process >= 0)
                return true;
        error_set_errno(error, errno, "Cannot watch a process");
        (void) kill(probe->pid, SIGKILL);
        return false;
}

bool probe_start(Probe *probe, GError **error) {
        probe->process = probe->group = -1;
        probe->deadline = g_get_monotonic_time() + (gint64) MIN(probe->timeout, G_MAXINT64 / 2);
        return make_group(probe, error) && start(probe, error);
}

gint64 probe_prepare(const Probe *probe, struct pollfd *ret_poll) {
        *ret_poll = (struct pollfd) { .fd = probe->process, .events = POLLIN };
        return probe->deadline;
}

void probe_kill(Probe *probe) {
        kill_group(probe);
        (void) syscall(SYS_pidfd_send_signal, probe->process, SIGKILL, NULL, 0); /* on its way to the group */
        probe->killed = true;
        probe->deadline = g_get_monotonic_time() + PATIENCE_USEC;
}

bool probe_advance(Probe *probe, const struct pollfd *poll) {
        if (poll->revents)
                return true;
        if (g_get_monotonic_time() < probe->deadline)
                return false;
        if (probe->killed)
                return true;
        probe->timed_out = true;
        probe_kill(probe);
        return false;
}

/* Where it is given up, who ends last reaps it: we, or PID 1. */
ProbeResult probe_end(Probe *probe) {
        int status = W_EXITCODE(EXIT_KEYTURN, 0);
        pid_t ended = process_wait(probe->pid, &status, WNOHANG);

        if (ended < 0)
                keep(probe, error_describe(errno), strlen(error_describe(errno)));

        kill_group(probe);
        fd_close(&probe->process);
        fd_close(&probe->group);
        probe->kept = g_strndup(probe->output->text, MIN(atomic_load(&probe->output->length), probe->max_output));
        return (ProbeResult) {
                .exit_status = process_exit_status(status),
                .timed_out = probe->timed_out || ended == 0,
                .is_left = ended == 0,
                .output = probe->kept,
        };
}

void probe_clear(Probe *probe) {
        if (probe->output)
                munmap(probe->output, sizeof *probe->output + probe->max_output);
        probe->output = NULL;
        g_clear_pointer(&probe->kept, g_free);
        fd_closep(&probe->process);
        fd_closep(&probe->group);
}
