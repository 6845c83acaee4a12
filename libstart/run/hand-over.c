/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/run/hand-over.h"

/* libstart is the service's main process until it says MAINPID=. systemd takes a main process that is not its child,
 * but warns that it will not notice its end. So where systemd is our parent the payload becomes its child too, by
 * CLONE_PARENT, and never was ours.
 *
 * Then PID 1 reaps the payload. One that ends before systemd has read MAINPID= (a typo in its arguments, a missing
 * library) would be reaped as a process that nobody knows, and its exit status would be lost. So libstart traces the
 * payload from before its execution (PTRACE_SEIZE, which does not stop it) over the hand-over: a traced zombie stays
 * until its tracer has seen it. libstart waits for systemd to have handled MAINPID= (notify_mark()). If the payload has
 * ended by then, libstart ends with the same status, which counts if systemd refused MAINPID= and is ignored otherwise.
 *
 * Where tracing is not allowed (Yama's ptrace_scope=3), only that is lost. Without CAP_SYS_PTRACE it would be allowed,
 * but a traced payload could not gain the privileges of a set-user-ID file, so it is left out. */

#define SYSTEMD_TIMEOUT_MSEC 5000

static void begin_trace(pid_t payload, void *data) {
        bool *traced = data;

        *traced = prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE, 0, 0, 0) > 0 &&
                  ptrace(PTRACE_SEIZE, payload, NULL, NULL) == 0;
}

/* A traced process stops at each of its signals until the tracer passes it on. With WNOHANG those that have come are
 * passed on, with 0 all until the payload ends. */
static void pass_on_signals(HandOver *hand_over, int flags) {
        int status;

        while (waitpid(hand_over->payload, &status, __WALL | flags) > 0) {
                if (!WIFSTOPPED(status)) {
                        hand_over->exited = true;
                        hand_over->status = status;
                        return;
                }
                if (status >> 16 == PTRACE_EVENT_STOP) /* a group stop, which is to last */
                        ptrace(PTRACE_LISTEN, hand_over->payload, NULL, NULL);
                else
                        ptrace(PTRACE_CONT, hand_over->payload, NULL, (void *) (long) WSTOPSIG(status));
        }
}

static void handle_signals(int signals, HandOver *hand_over) {
        struct signalfd_siginfo info;

        if (read(signals, &info, sizeof info) > 0)
                pass_on_signals(hand_over, WNOHANG);
}

static bool wait_for_execution(ExecReport *report, int signals, HandOver *hand_over, GError **error) {
        struct pollfd fds[] = {
                { .fd = exec_report_reader(report), .events = POLLIN },
                { .fd = signals, .events = POLLIN },
        };

        while (!fds[0].revents) {
                if (poll(fds, G_N_ELEMENTS(fds), -1) < 0 && errno != EINTR)
                        return error_set_errno(error, errno, "Cannot wait for the payload's execution");
                if (fds[1].revents)
                        handle_signals(signals, hand_over);
        }
        return exec_report_wait(report, &hand_over->exec_errno, error);
}

static bool execute(const RuntimeContainer *container, bool sibling, int signals, HandOver *hand_over,
                    bool *ret_traced, GError **error) {
        RuntimeContainer own = *container;
        sigset_t mask;

        own.sibling = sibling;
        own.created = begin_trace;
        own.created_data = ret_traced;
        sigprocmask(SIG_BLOCK, NULL, &mask);
        hand_over->payload = runtime_run(&own, error);
        sigprocmask(SIG_SETMASK, &mask, NULL); /* libcrun blocks all; a stop ends a start that goes on */
        if (hand_over->payload < 0 || !wait_for_execution(container->report, signals, hand_over, error))
                return false;
        if (hand_over->exec_errno != 0)
                pass_on_signals(hand_over, 0); /* or systemd would find a process to kill */
        else
                timing_mark(container->timing, TIMING_STARTED);
        return true;
}

static bool watch(int epoll, int signals, const Notify *notify) {
        struct epoll_event event = { .events = EPOLLIN };

        return epoll_ctl(epoll, EPOLL_CTL_ADD, signals, &event) == 0 && notify_watch(notify, epoll);
}

/* Wait for systemd to have handled MAINPID=. Its being slow is no error: the payload runs, and only the little that
 * is said at the top of this file depends on it. */
static void wait_for_systemd(const Notify *notify, int signals, HandOver *hand_over) {
        _cleanup_close_ int epoll = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event event;

        if (epoll < 0 || !watch(epoll, signals, notify))
                return;
        while (!notify_is_handled(notify)) {
                int n = epoll_wait(epoll, &event, 1, SYSTEMD_TIMEOUT_MSEC);

                if (n == 0 || (n < 0 && errno != EINTR))
                        return;
                handle_signals(signals, hand_over);
        }
        pass_on_signals(hand_over, WNOHANG);
}

static int watch_children(GError **error) {
        sigset_t mask;
        int fd;

        sigemptyset(&mask);
        sigaddset(&mask, SIGCHLD);
        sigprocmask(SIG_BLOCK, &mask, NULL); /* libcrun unblocks it for the payload */
        fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd < 0)
                error_set_errno(error, errno, "Cannot wait for signals");
        return fd;
}

bool hand_over(const RuntimeContainer *container, Notify *notify, const char *state,
               bool (*started)(pid_t payload, void *data, GError **error), void *data, HandOver *ret, GError **error) {
        _cleanup_close_ int signals = watch_children(error);
        g_autofree char *message = NULL;
        bool traced = false;

        if (signals < 0)
                return false;
        *ret = (HandOver) { 0 };
        if (!execute(container, notify && getppid() == 1, signals, ret, &traced, error))
                return false;
        if (ret->exec_errno != 0)
                return true;

        if (traced)
                pass_on_signals(ret, WNOHANG);
        /* systemd would only complain about the pid of a payload that is gone; our own end tells of it. */
        message = ret->exited ? g_strdup(state) : g_strdup_printf("%sMAINPID=%d", state, (int) ret->payload);
        if (!started(ret->payload, data, error) || (*message && !notify_send(notify, message, error))) {
                kill(ret->payload, SIGKILL);
                return false;
        }
        timing_mark(container->timing, TIMING_TOLD);
        if (!traced || ret->exited)
                return true;
        if (notify_mark(notify, ret->payload, NULL))
                wait_for_systemd(notify, signals, ret);
        return true;
}

void hand_over_end_as(int status) {
        struct rlimit no_core = { 0, 0 };
        sigset_t mask;

        if (!WIFSIGNALED(status))
                _exit(WEXITSTATUS(status));
        setrlimit(RLIMIT_CORE, &no_core); /* the dump would be of libstart */
        sigfillset(&mask);
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &mask, NULL);
        raise(WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
}
