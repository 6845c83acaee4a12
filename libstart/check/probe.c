/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/check/probe.h"

/* The threat: the command is the payload's program, and does what it wants to keep whoever waits for it busy. So
 *  - its end is that of the process which libcrun runs in, not of its output: it may close that, or leave it to others;
 *  - all that it starts stays in a cgroup of its own below the container's, whatever it forks, and is killed there;
 *  - of its output only the beginning is kept, and the rest is taken slowly: it does not make us work. */

/* What is written in one go, as by a check that fetches a page, is not slowed down. */
#define FAST_BYTES (1024U * 1024U)
#define SLOW_USEC 10000

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

/* One that is there already may hold what a check has left whose own process was killed. */
static bool make_group(Probe *probe, GError **error) {
        g_autofree char *path = g_build_filename("/sys/fs/cgroup", probe->entry->cgroup, NULL);
        bool fresh = mkdir(path, 0755) == 0;

        if (!fresh && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make the control group '%s'", path);
        probe->group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (probe->group < 0)
                return error_set_errno(error, errno, "Cannot open the control group '%s'", path);
        if (!fresh)
                kill_group(probe);
        return true;
}

/* Not /dev/null: libcrun gives the standard streams to the container's user, and the host's /dev/null would be his. */
static int open_nothing(void) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -1;
        close(ends[1]);
        return ends[0];
}

/* The process that runs libcrun. It has nothing of ours; what it says is part of the output. */
static void run_inside(const Probe *probe, int output) G_GNUC_NORETURN;
static void run_inside(const Probe *probe, int output) {
        int nothing = open_nothing(), status = EXIT_KEYTURN;
        g_autoptr(GError) error = NULL;
        libcrun_container_t *container;
        libcrun_error_t err = NULL;
        EnterProcess *process;

        if (setsid() < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
            dup2(output, STDERR_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
                _exit(status);
        container = libcrun_container_load_from_file(probe->config, &err);
        if (container) {
                process = container->container_def->process;
                process->args = probe->command;
                process->args_len = g_strv_length(probe->command);
                process->terminal = false;
                if (enter_prepare(probe->entry, process, &error))
                        status = enter_run(probe->entry, process, NULL, &error);
        } else
                (void) enter_fail(&err, &error);
        if (error)
                dprintf(STDERR_FILENO, "%s\n", error->message);
        _exit(status);
}

static bool start(Probe *probe, GError **error) {
        pid_t caller = getpid();
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        probe->output = ends[0];
        probe->pid = fork();
        if (probe->pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != caller)
                        _exit(EXIT_KEYTURN);
                run_inside(probe, ends[1]);
        }
        close(ends[1]);
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
        probe->process = probe->group = probe->output = -1;
        probe->kept = g_string_new(NULL);
        probe->deadline = g_get_monotonic_time() + (gint64) MIN(probe->timeout, G_MAXINT64 / 2);
        return make_group(probe, error) && start(probe, error);
}

/* At most `max` bytes, which are there. */
static bool take_output(Probe *probe, gsize max) {
        char buffer[65536];
        ssize_t n = read(probe->output, buffer, MIN(max, sizeof buffer));

        if (n < 0)
                return errno == EINTR;
        probe->n_read += (gsize) n;
        if (probe->n_read > FAST_BYTES)
                probe->read_again = g_get_monotonic_time() + SLOW_USEC;
        if (probe->kept->len < probe->max_output)
                g_string_append_len(probe->kept, buffer,
                                    (gssize) MIN((gsize) n, probe->max_output - probe->kept->len));
        return n > 0;
}

gint64 probe_prepare(const Probe *probe, struct pollfd polls[PROBE_POLLS]) {
        bool slow = probe->read_again > g_get_monotonic_time();
        gint64 until = probe->killed ? G_MAXINT64 : probe->deadline;

        polls[0] = (struct pollfd) { .fd = probe->process, .events = POLLIN };
        polls[1] = (struct pollfd) { .fd = slow ? -1 : probe->output, .events = POLLIN };
        return slow ? MIN(until, probe->read_again) : until;
}

void probe_kill(Probe *probe) {
        kill_group(probe);
        (void) syscall(SYS_pidfd_send_signal, probe->process, SIGKILL, NULL, 0); /* on its way to the group */
        probe->killed = true;
}

bool probe_advance(Probe *probe, const struct pollfd polls[PROBE_POLLS]) {
        if (polls[0].revents)
                return true;
        if (polls[1].revents && !take_output(probe, G_MAXSIZE))
                fd_close(&probe->output);
        if (!probe->killed && g_get_monotonic_time() >= probe->deadline) {
                probe->timed_out = true;
                probe_kill(probe);
        }
        return false;
}

/* What was written before the end, and nothing that comes later. */
static void take_rest(Probe *probe) {
        int there = 0;

        if (probe->output < 0 || ioctl(probe->output, FIONREAD, &there) < 0)
                return;
        while (there > 0) {
                gsize before = probe->n_read;

                if (!take_output(probe, (gsize) there))
                        return;
                there -= (int) (probe->n_read - before);
        }
}

ProbeResult probe_end(Probe *probe) {
        int status = 0;

        take_rest(probe);
        kill_group(probe);
        while (waitpid(probe->pid, &status, 0) < 0 && errno == EINTR)
                ;
        fd_close(&probe->process);
        fd_close(&probe->group);
        fd_close(&probe->output);
        return (ProbeResult) {
                .exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                .timed_out = probe->timed_out,
                .output = probe->kept->str,
        };
}

void probe_clear(Probe *probe) {
        if (probe->kept)
                g_string_free(probe->kept, TRUE);
        probe->kept = NULL;
        fd_closep(&probe->process);
        fd_closep(&probe->group);
        fd_closep(&probe->output);
}
