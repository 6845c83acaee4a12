/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/ctl/exec/channel.h"
#include "libstart/ctl/exec/input.h"
#include "libstart/ctl/exec/streams.h"
#include "libstart/ctl/exec/terminal.h"

/* The threat: a descriptor of a command in a container is the container's. Its payload, a root user there or the same
 * one, opens /proc/PID/fd/0 of the command; and libcrun gives what is open there to the command's user, so that it
 * can open /dev/stdout. Were it the administrator's terminal, the payload could read what he types, and type for him;
 * were it a file of the host's (`keyturnctl exec box true >FILE`), it could write it, and set its mode.
 *
 * So the command gets pipes, or a terminal that was made in the container, whose other end is here; and the process
 * that enters the container has nothing else open, before it executes the command neither, and is of a session of its
 * own. The bytes, their order, and the exit status are what they would be with the caller's own descriptors.
 *
 * What the command leaves in the background when it ends can hold its streams open for ever: nobody waits for it. */

/* Of what is still underway in a terminal at the command's end. The kernel holds less; a process in the background
 * may go on writing. */
#define TERMINAL_REST (64 * 1024)

struct Streams {
        int command[3]; /* the command's ends; -1: none, /dev/null */
        char *console_socket;
        int listener; /* -1: no terminal, or it is there */
        Terminal terminal;
        int signals;
        Input input;
        Channel keys; /* in the place of input, to a terminal */
        Channel output, errors;
        int status; /* of the child, as of waitpid(2) */
        bool ended;
};

/* A standard stream that is closed would be the next thing that is opened. */
static void fill_closed(void) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
                        return;
}

/* Returns our end, which does not block. */
static int make_pipe(Streams *streams, int stream, GError **error) {
        int fds[2], ours = stream == STDIN_FILENO;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return error_negative_errno(error, errno, "Cannot make a pipe");
        streams->command[stream] = fds[!ours];
        (void) fcntl(fds[ours], F_SETFL, O_NONBLOCK);
        return fds[ours];
}

static bool fail_to_use(GError **error) {
        return error_set_errno(error, errno, "Cannot use the standard streams");
}

static bool make_input(Streams *streams, GError **error) {
        int end = make_pipe(streams, STDIN_FILENO, error), from;

        if (end < 0)
                return false;
        from = channel_reopen(STDIN_FILENO, O_RDONLY);
        return input_init(&streams->input, from, end, error) && (from >= 0 || fail_to_use(error));
}

static bool make_output(Streams *streams, int fd, Channel *channel, GError **error) {
        int end = make_pipe(streams, fd, error);

        if (end < 0)
                return false;
        channel_init(channel, end, channel_reopen(fd, O_WRONLY));
        return channel->to >= 0 || fail_to_use(error);
}

/* One description for both, as a terminal or `2>&1` makes it: one pipe, so that what is written stays in order. */
static bool is_same_output(void) {
        pid_t pid = getpid();

        return syscall(SYS_kcmp, pid, pid, KCMP_FILE, STDOUT_FILENO, STDERR_FILENO) == 0;
}

static bool make_pipes(Streams *streams, GError **error) {
        if (!make_input(streams, error) || !make_output(streams, STDOUT_FILENO, &streams->output, error))
                return false;
        if (!is_same_output())
                return make_output(streams, STDERR_FILENO, &streams->errors, error);
        streams->command[STDERR_FILENO] = fcntl(streams->command[STDOUT_FILENO], F_DUPFD_CLOEXEC, 3);
        return streams->command[STDERR_FILENO] >= 0 || fail_to_use(error);
}

/* The pipe is for what libcrun says of a command that it cannot execute. */
static bool make_socket(Streams *streams, const char *path, GError **error) {
        streams->listener = terminal_listen(path, error);
        if (streams->listener < 0)
                return false;
        streams->console_socket = g_strdup(path);
        return make_output(streams, STDERR_FILENO, &streams->errors, error);
}

/* All that the command can be sent, if it has a meaning for us: an ignored one keeps being ignored (nohup(1)). Those
 * of job control are between us and the caller's shell; SIGTTIN: see input.c. */
static int catch_signals(void) {
        static const int never[] = { SIGTSTP, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
        struct sigaction action;
        sigset_t set;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGCHLD, SIG_DFL);
        sigfillset(&set);
        for (gsize i = 0; i < G_N_ELEMENTS(never); i++)
                sigdelset(&set, never[i]);
        for (int i = 1; i < NSIG; i++)
                if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
                        sigdelset(&set, i);
        sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Streams *streams_new(const char *console_socket, GError **error) {
        g_autoptr(Streams) streams = g_new0(Streams, 1);

        *streams = (Streams) {
                .command = { -1, -1, -1 }, .listener = -1, .terminal = TERMINAL_NULL, .input = INPUT_NULL
        };
        channel_init(&streams->keys, -1, -1);
        channel_init(&streams->output, -1, -1);
        channel_init(&streams->errors, -1, -1);
        fill_closed();
        streams->signals = catch_signals();
        if (streams->signals < 0)
                return error_null_errno(error, errno, "Cannot wait for the command's end");
        if (!(console_socket ? make_socket(streams, console_socket, error) : make_pipes(streams, error)))
                return NULL;
        return g_steal_pointer(&streams);
}

void streams_free(Streams *streams) {
        terminal_restore(&streams->terminal);
        input_close(&streams->input);
        channel_close(&streams->keys);
        channel_close(&streams->output);
        channel_close(&streams->errors);
        fds_close(streams->command, G_N_ELEMENTS(streams->command));
        fd_closep(&streams->listener);
        fd_closep(&streams->signals);
        if (streams->console_socket)
                (void) unlink(streams->console_socket);
        g_free(streams->console_socket);
        g_free(streams);
}

/* A payload can stop or freeze whoever is on the way in: a signal ends that, until libcrun passes signals on. */
static bool unblock_signals(void) {
        sigset_t none;

        sigemptyset(&none);
        return sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

bool streams_enter(Streams *streams, GError **error) {
        bool ok = setsid() >= 0 && unblock_signals();

        for (int fd = STDIN_FILENO; ok && fd <= STDERR_FILENO; fd++) {
                int end = streams->command[fd] >= 0 ? streams->command[fd] : open("/dev/null", O_RDWR | O_CLOEXEC);

                ok = end >= 0 && dup2(end, fd) >= 0;
        }
        ok = ok && close_range(STDERR_FILENO + 1, ~0U, 0) == 0;
        return ok || error_set_errno(error, errno, "Cannot give the command its standard streams");
}

static bool take_terminal(Streams *streams, GError **error) {
        int master = terminal_receive(streams->listener, error);

        fd_close(&streams->listener);
        if (master < 0)
                return false;
        channel_init(&streams->output, master, channel_reopen(STDOUT_FILENO, O_WRONLY));
        channel_init(&streams->keys, channel_reopen(STDIN_FILENO, O_RDONLY), fcntl(master, F_DUPFD_CLOEXEC, 3));
        return (streams->output.to >= 0 && streams->keys.from >= 0 && streams->keys.to >= 0) ?
                       terminal_make_raw(&streams->terminal, STDIN_FILENO, error) :
                       fail_to_use(error);
}

static bool handle_signal(Streams *streams, pid_t child, int number, GError **error) {
        if (number == SIGCHLD) {
                pid_t ended = process_wait(child, &streams->status, WNOHANG);

                streams->ended = ended != 0;
                return ended >= 0 || error_set_errno(error, errno, "Cannot wait for the command");
        }
        if (number == SIGWINCH)
                terminal_copy_size(STDIN_FILENO, streams->output.from); /* where that is a terminal */
        else if (number != SIGTTIN)
                (void) kill(child, number);
        return true;
}

static int read_signal(const Streams *streams) {
        struct signalfd_siginfo info;

        return read(streams->signals, &info, sizeof info) == sizeof info ? (int) info.ssi_signo : 0;
}

/* One round of everything that is there to be done. */
static bool step(Streams *streams, pid_t child, GError **error) {
        enum { SIGNALS, LISTENER, INPUT, KEYS = INPUT + 2, OUTPUT = KEYS + 2, ERRORS = OUTPUT + 2, N = ERRORS + 2 };
        struct pollfd ask[N] = {
                [SIGNALS] = { .fd = streams->signals, .events = POLLIN },
                [LISTENER] = { .fd = streams->listener, .events = POLLIN },
        };
        bool ok = true;
        int number;

        input_ask(&streams->input, ask + INPUT);
        channel_ask(&streams->keys, ask + KEYS);
        channel_ask(&streams->output, ask + OUTPUT);
        channel_ask(&streams->errors, ask + ERRORS);
        if (poll(ask, N, streams->input.away ? INPUT_AWAY_MS : -1) < 0)
                return errno == EINTR || error_set_errno(error, errno, "Cannot wait for the command");
        if (ask[LISTENER].revents)
                ok = take_terminal(streams, error);
        input_step(&streams->input, ask + INPUT);
        (void) channel_step(&streams->keys, ask + KEYS, NULL);
        ok = ok && channel_step(&streams->output, ask + OUTPUT, error) &&
             channel_step(&streams->errors, ask + ERRORS, error);
        if (ask[SIGNALS].revents && (number = read_signal(streams)) > 0)
                ok &= handle_signal(streams, child, number, ok ? error : NULL);
        return ok;
}

/* The caller is in the way of the last bytes only for as long as he wants. */
static bool wait_for_room(const Streams *streams, struct pollfd ask[2]) {
        struct pollfd both[] = { ask[1], { .fd = streams->signals, .events = POLLIN } };

        while (poll(both, G_N_ELEMENTS(both), -1) < 0)
                if (errno != EINTR)
                        return false;
        ask[1].revents = both[0].revents;
        switch (both[1].revents ? read_signal(streams) : 0) {
        case SIGHUP:
        case SIGINT:
        case SIGQUIT:
        case SIGTERM:
                return false;
        }
        return true;
}

/* What the command wrote before it ended is in the pipe now, and delivered; nothing that comes later. */
static bool finish(const Streams *streams, Channel *channel, GError **error) {
        struct pollfd ask[2];
        int rest = TERMINAL_REST;

        if (channel->from >= 0 && !streams->console_socket)
                (void) ioctl(channel->from, FIONREAD, &rest);
        channel->limit = (gsize) rest;
        while (channel_fill(channel)) {
                channel_ask(channel, ask);
                ask[0].revents = 0;
                if (!wait_for_room(streams, ask))
                        return true;
                if (!channel_step(channel, ask, error))
                        return false;
        }
        return channel_check(channel, error);
}

int streams_copy(Streams *streams, pid_t child, GError **error) {
        bool ok = true;

        for (gsize i = 0; i < G_N_ELEMENTS(streams->command); i++)
                fd_close(&streams->command[i]);
        while (!streams->ended)
                ok &= step(streams, child, ok ? error : NULL);
        input_close(&streams->input);
        ok &= input_check(&streams->input, ok ? error : NULL);
        ok &= finish(streams, &streams->output, ok ? error : NULL);
        ok &= finish(streams, &streams->errors, ok ? error : NULL);
        if (!ok)
                return -1;
        return process_exit_status(streams->status);
}
