/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
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
#define SLOW_MSEC 10

typedef struct Running {
        const Probe *probe;
        pid_t pid;
        int process; /* a pidfd */
        int output;
        gsize n_read;
        gint64 deadline; /* of g_get_monotonic_time() */
        GString *kept;
} Running;

static char *group_file(const Probe *probe, const char *name) {
        return g_build_filename("/sys/fs/cgroup", probe->entry->cgroup, name, NULL);
}

/* Before Linux 5.14. What forks faster than this is stopped by the container's TasksMax=. */
static void kill_one_by_one(const Probe *probe) {
        g_autofree char *path = group_file(probe, "cgroup.procs");

        for (int round = 0; round < 100; round++) {
                g_autofree char *text = NULL;
                g_auto(GStrv) pids = NULL;

                if (!g_file_get_contents(path, &text, NULL, NULL) || !*text)
                        return;
                pids = g_strsplit(g_strchomp(text), "\n", -1);
                for (char **pid = pids; *pid; pid++)
                        if (g_ascii_strtoll(*pid, NULL, 10) > 1)
                                (void) kill((pid_t) g_ascii_strtoll(*pid, NULL, 10), SIGKILL);
                g_usleep(1000);
        }
}

static void kill_all(const Probe *probe) {
        g_autofree char *path = group_file(probe, "cgroup.kill");
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0)
                kill_one_by_one(probe);
        else
                (void) !write(fd, "1", 1);
}

/* One that is there already may hold what a check has left whose own process was killed. */
static bool make_group(const Probe *probe, GError **error) {
        g_autofree char *path = group_file(probe, NULL);

        if (mkdir(path, 0755) == 0)
                return true;
        if (errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make the control group '%s'", path);
        kill_all(probe);
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
static void run_inside(const Probe *probe, EnterProcess *process, int output) G_GNUC_NORETURN;
static void run_inside(const Probe *probe, EnterProcess *process, int output) {
        int nothing = open_nothing(), status = EXIT_KEYTURN;
        g_autoptr(GError) error = NULL;

        if (setsid() >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) == 0 && dup2(output, STDOUT_FILENO) > 0 &&
            dup2(output, STDERR_FILENO) > 0 && close_range(STDERR_FILENO + 1, ~0U, 0) == 0 &&
            enter_prepare(probe->entry, process, &error))
                status = enter_run(probe->entry, process, NULL, &error);
        if (error)
                dprintf(STDERR_FILENO, "%s\n", error->message);
        _exit(status);
}

static bool start(Running *running, EnterProcess *process, GError **error) {
        pid_t caller = getpid();
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        running->output = ends[0];
        running->pid = fork();
        if (running->pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != caller)
                        _exit(EXIT_KEYTURN);
                run_inside(running->probe, process, ends[1]);
        }
        close(ends[1]);
        if (running->pid < 0)
                return error_set_errno(error, errno, "Cannot fork");
        running->process = (int) syscall(SYS_pidfd_open, running->pid, 0);
        return running->process >= 0 || error_set_errno(error, errno, "Cannot watch a process");
}

/* At most `max` bytes, which are there. */
static bool take_output(Running *running, gsize max) {
        char buffer[65536];
        ssize_t n = read(running->output, buffer, MIN(max, sizeof buffer));

        if (n < 0)
                return errno == EINTR;
        running->n_read += (gsize) n;
        if (running->kept->len < running->probe->max_output)
                g_string_append_len(running->kept, buffer,
                                    (gssize) MIN((gsize) n, running->probe->max_output - running->kept->len));
        return n > 0;
}

/* Returns whether it has ended in time. */
static bool await_end(Running *running) {
        gint64 left;

        while ((left = running->deadline - g_get_monotonic_time()) > 0) {
                struct pollfd ask[] = { { .fd = running->process, .events = POLLIN },
                                        { .fd = running->output, .events = POLLIN } };
                int msec = (int) MIN(left / G_TIME_SPAN_MILLISECOND + 1, G_MAXINT);
                bool slow = running->n_read > FAST_BYTES;

                if (slow)
                        (void) poll(ask, 1, MIN(SLOW_MSEC, msec));
                if (poll(ask, G_N_ELEMENTS(ask), slow ? 0 : msec) < 0 && errno != EINTR)
                        return false;
                if (ask[0].revents)
                        return true;
                if (ask[1].revents && !take_output(running, G_MAXSIZE))
                        fd_close(&running->output);
        }
        return false;
}

/* What was written before the end, and nothing that comes later. */
static void take_rest(Running *running) {
        int there = 0;

        if (running->output < 0 || ioctl(running->output, FIONREAD, &there) < 0)
                return;
        while (there > 0) {
                gsize before = running->n_read;

                if (!take_output(running, (gsize) there))
                        return;
                there -= (int) (running->n_read - before);
        }
}

static int find_status(Running *running) {
        int status = 0;

        while (waitpid(running->pid, &status, 0) < 0 && errno == EINTR)
                ;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool probe_run(const Probe *probe, EnterProcess *process, ProbeResult *ret, GError **error) {
        Running running = { .probe = probe, .process = -1, .output = -1, .kept = g_string_new(NULL) };
        bool ok = make_group(probe, error);

        running.deadline = g_get_monotonic_time() + (gint64) MIN(probe->timeout, G_MAXINT64 / 2);
        ok = ok && start(&running, process, error);
        if (ok) {
                ret->timed_out = !await_end(&running);
                take_rest(&running);
        }
        kill_all(probe);
        if (running.pid > 0)
                ret->exit_status = find_status(&running);
        ret->output = running.kept;
        fd_closep(&running.process);
        fd_closep(&running.output);
        return ok;
}
