/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/runtime/hand-over.h"

/* Three processes take part:
 *
 *   libstart    the service's main process until it says MAINPID=
 *   a midwife   forked by libstart, sharing its memory; it runs libcrun, or another runtime's program, and so is the
 *               payload's parent
 *   the payload
 *
 * systemd accepts a main process that is not its own child, but warns that it will not notice its end. So the payload
 * must be PID 1's child when MAINPID= arrives: the midwife exits first, and the payload is reparented.
 *
 * From then on PID 1 reaps the payload. A payload may end before systemd has read MAINPID= (a typo in its arguments,
 * a missing library). PID 1 would reap it as a stranger, and its exit status would be lost. So libstart traces the
 * payload (PTRACE_SEIZE, which does not stop it) over the hand-over: a traced zombie stays until its tracer has seen
 * it. libstart waits for systemd to have handled MAINPID= (notify_mark()). If the payload has ended by then, libstart
 * ends with the same status, which counts if systemd refused MAINPID= and is ignored otherwise.
 *
 * Where tracing is not allowed (a debugger has the payload already, Yama's ptrace_scope=3), only that is lost. */

#define MIDWIFE_STACK_SIZE (256U * 1024U)
#define SYSTEMD_TIMEOUT_MSEC 5000

typedef struct Midwife {
        const RuntimeContainer *container;
        HandOverStart *start;
        HandOver *hand_over;
        pid_t libstart;
        bool is_asking; /* the payload runs, and the midwife stops itself, so that it is traced */
        bool traced;    /* libstart traces the payload, and is told of its end first */
        GError *error;
} Midwife;

static bool is_zombie(pid_t process) {
        g_autofree char *state = process_read_stat(process, 3);

        return g_strcmp0(state, "Z") == 0;
}

/* settles: nobody else can, as hand_over_settle() does. */
static void look_at_payload(HandOver *hand_over, bool settles) {
        int flags = WEXITED | WNOWAIT | (settles && is_zombie(hand_over->payload) ? 0 : WNOHANG);
        siginfo_t info = { 0 };

        if (waitid(P_PID, (id_t) hand_over->payload, &info, flags) < 0 || info.si_pid == 0)
                return;
        hand_over->exited = true;
        hand_over->status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status;
}

pid_t hand_over_start(const RuntimeContainer *container, int *ret_exec_errno, GError **error) {
        pid_t payload = runtime_run(container, error);

        return payload >= 0 && exec_report_wait(container->report, ret_exec_errno, error) ? payload : -1;
}

/* Runs on its own stack in libstart's memory, while libstart waits for it to stop or to exit. */
static int midwife_main(void *data) {
        Midwife *midwife = data;
        HandOver *hand_over = midwife->hand_over;
        pid_t payload = -1;

        /* Where libstart is killed, nobody would let this process go on. And the delete of another runtime waits for
         * the container's first process to be gone, and this would be who has to wait for that. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
                error_set_errno(&midwife->error, errno, "Cannot ask to end with libstart");
        else if (getppid() == midwife->libstart)
                payload = midwife->start(midwife->container, &hand_over->exec_errno, &midwife->error);
        if (payload < 0)
                _exit(EXIT_FAILURE);
        hand_over->payload = payload;
        if (hand_over->exec_errno != 0) {
                (void) process_wait(payload, NULL, 0); /* or systemd would find a process to kill */
                _exit(EXIT_SUCCESS);
        }
        timing_mark(midwife->container->timing, TIMING_STARTED);
        midwife->is_asking = true;
        kill(getpid(), SIGSTOP); /* libstart begins to trace the payload, and lets us go on */
        look_at_payload(hand_over, midwife->start != hand_over_start && !midwife->traced);
        _exit(EXIT_SUCCESS);
}

static pid_t fork_midwife(Midwife *midwife, GError **error) {
        char *stack = mmap(NULL, MIDWIFE_STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                           -1, 0);
        pid_t pid;

        if (stack == MAP_FAILED)
                return error_negative_errno(error, errno, "Cannot allocate a stack");
        pid = clone(midwife_main, stack + MIDWIFE_STACK_SIZE, CLONE_VM | SIGCHLD, midwife);
        return pid >= 0 ? pid : error_negative_errno(error, errno, "Cannot fork");
}

/* Returns at once where the payload is not traced, and so cannot be waited for. */
static void await_end(pid_t payload) {
        int status;

        while (process_wait(payload, &status, __WALL) > 0 && WIFSTOPPED(status))
                ;
}

/* Where there is one; nobody else is told of it. */
static void end_payload(const HandOver *hand_over) {
        if (hand_over->payload <= 0)
                return;
        if (!hand_over->exited)
                kill(hand_over->payload, SIGKILL);
        await_end(hand_over->payload);
}

/* Until it has ended; false with errno. Before it asks, it is others who stop it, and let it go on: Ctrl+Z, say. */
static bool await_midwife(Midwife *midwife, pid_t pid, int *ret_status) {
        while (process_wait(pid, ret_status, WUNTRACED) >= 0) {
                if (!WIFSTOPPED(*ret_status))
                        return true;
                if (!midwife->is_asking)
                        continue;
                if (!midwife->traced)
                        midwife->traced = ptrace(PTRACE_SEIZE, midwife->hand_over->payload, NULL, NULL) == 0;
                if (kill(pid, SIGCONT) < 0)
                        return false;
        }
        return false;
}

/* A midwife that is not waited for would go on in our memory. */
static bool give_up(pid_t midwife, const HandOver *hand_over, GError **error) {
        int errnum = errno;

        kill(midwife, SIGKILL);
        (void) process_wait(midwife, NULL, 0);
        end_payload(hand_over);
        return error_set_errno(error, errnum, "Cannot wait for the process that starts the container");
}

static bool run_midwife(const RuntimeContainer *container, HandOverStart *start, HandOver *hand_over,
                        bool *ret_traced, GError **error) {
        Midwife midwife = { .container = container, .start = start, .hand_over = hand_over, .libstart = getpid() };
        int writer = container->report->write_fd, status = 0;
        pid_t pid = fork_midwife(&midwife, error);

        if (pid < 0)
                return false;
        close(writer); /* the midwife has descriptors of its own; ours would keep the report from ever ending */
        if (!await_midwife(&midwife, pid, &status))
                return give_up(pid, hand_over, error);
        *ret_traced = midwife.traced;
        if (midwife.error) {
                g_propagate_error(error, midwife.error);
                return false;
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
                return error_set(error, KT_ERROR_FAILED, "The process that starts the container died of signal %d",
                                 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        return true;
}

/* Of a process that it traces, the kernel also tells that it has stopped, asked for or not. */
bool hand_over_has_ended(pid_t process) {
        siginfo_t info = { 0 };

        return waitid(P_PID, (id_t) process, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid != 0 &&
               (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED);
}

/* Nobody else is told that a process that we trace has ended, until we have waited for it. */
static void hear_last_words(const HandOver *hand_over, const HandOverCalls *calls) {
        if (hand_over_has_ended(hand_over->payload))
                calls->ended(hand_over->told ? hand_over->payload : 0, calls->data);
}

/* A traced process stops at each of its signals until the tracer passes it on. */
static void pass_on_signals(HandOver *hand_over, const HandOverCalls *calls) {
        int status;

        if (calls->ended)
                hear_last_words(hand_over, calls);
        while (process_wait(hand_over->payload, &status, __WALL | WNOHANG) > 0) {
                if (!WIFSTOPPED(status)) {
                        hand_over->exited = true;
                        hand_over->status = status;
                        return;
                }
                if (status >> 16 != PTRACE_EVENT_STOP)
                        ptrace(PTRACE_CONT, hand_over->payload, NULL, (void *) (long) WSTOPSIG(status));
                else if (WSTOPSIG(status) == SIGTRAP) /* the end of a group stop, by SIGCONT */
                        ptrace(PTRACE_CONT, hand_over->payload, NULL, NULL);
                else /* a group stop, which is to last */
                        ptrace(PTRACE_LISTEN, hand_over->payload, NULL, NULL);
        }
}

static bool watch(int epoll, int signals, const Notify *notify) {
        struct epoll_event event = { .events = EPOLLIN };

        return epoll_ctl(epoll, EPOLL_CTL_ADD, signals, &event) == 0 && notify_watch(notify, epoll);
}

/* Wait until systemd has handled MAINPID=. A slow systemd is no error: the payload runs, and only the exit status of
 * one that ends at once depends on this (see the top of this file). */
static void wait_for_systemd(const Notify *notify, int signals, HandOver *hand_over, const HandOverCalls *calls) {
        _cleanup_close_ int epoll = epoll_create1(EPOLL_CLOEXEC);
        struct signalfd_siginfo info;
        struct epoll_event event;

        if (epoll < 0 || !watch(epoll, signals, notify))
                return;
        while (!notify_is_handled(notify)) {
                int n = epoll_wait(epoll, &event, 1, SYSTEMD_TIMEOUT_MSEC);

                if (n == 0 || (n < 0 && errno != EINTR))
                        return;
                if (read(signals, &info, sizeof info) > 0)
                        pass_on_signals(hand_over, calls);
        }
        pass_on_signals(hand_over, calls);
}

static int watch_children(GError **error) {
        sigset_t mask;
        int fd;

        sigemptyset(&mask);
        sigaddset(&mask, SIGCHLD);
        sigprocmask(SIG_BLOCK, &mask, NULL); /* libcrun unblocks it for the payload */
        fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot wait for signals");
}

bool hand_over(const RuntimeContainer *container, Notify *notify, const char *state, const HandOverCalls *calls,
               HandOver *ret, GError **error) {
        _cleanup_close_ int signals = watch_children(error);
        g_autofree char *message = NULL;
        bool traced = false, is_started;

        if (signals < 0)
                return false;
        *ret = (HandOver) { 0 };
        if (!run_midwife(container, calls->start, ret, &traced, error))
                return false;
        if (ret->exec_errno != 0)
                return true;

        if (ret->exited && calls->ended)
                calls->ended(0, calls->data);
        is_started = calls->started(ret->payload, calls->data, error);
        if (traced && !ret->exited)
                pass_on_signals(ret, calls);
        /* systemd would complain about the pid of a payload that is gone. That libstart ends tells it enough, and
         * nothing is waited for. */
        message = ret->exited ? g_strdup(g_str_has_prefix(state, "STATUS=") ? "" : state) :
                                g_strdup_printf("%sMAINPID=%d", state, (int) ret->payload);
        if (!is_started || (*message && !notify_send(notify, message, error))) {
                end_payload(ret);
                return false;
        }
        ret->told = !ret->exited;
        timing_mark(container->timing, TIMING_TOLD);
        if (!traced || ret->exited)
                return true;
        if (notify_mark(notify, ret->payload, NULL))
                wait_for_systemd(notify, signals, ret, calls);
        return true;
}

void hand_over_settle(HandOver *hand_over) {
        int status;

        if (hand_over->exited || !is_zombie(hand_over->payload))
                return;
        while (process_wait(hand_over->payload, &status, __WALL) > 0)
                if (!WIFSTOPPED(status)) {
                        hand_over->exited = true;
                        hand_over->status = status;
                        return;
                }
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
