/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/relay-client/relay-client.h"
#include "libstart/service/output-copier.h"

#define BUFFER_SIZE 65536
#define FIRST_FD 3 /* of the copier's own */

static int write_errno; /* of what was dropped */

/* What the file does not take is dropped: its writer must not wait for ever because a disk is full. */
static void write_all(int fd, const char *data, ssize_t size) {
        struct pollfd writable = { .fd = fd, .events = POLLOUT };

        while (size > 0) {
                ssize_t n = write(fd, data, (size_t) size);

                if (n > 0) {
                        data += n;
                        size -= n;
                } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
                        write_errno = n == 0 ? EIO : errno;
                        return;
                } else if (errno == EAGAIN)
                        (void) poll(&writable, 1, -1);
        }
}

/* Returns whether there may be more. */
static bool copy_some(int from, int to) {
        static char buffer[BUFFER_SIZE];
        ssize_t n = read(from, buffer, sizeof buffer);

        if (n > 0)
                write_all(to, buffer, n);
        return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static void copy_until_end(struct pollfd pipes[2], const int files[2]) {
        while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
                if (poll(pipes, 2, -1) < 0)
                        continue;
                for (int i = 0; i < 2; i++)
                        if (pipes[i].fd >= 0 && pipes[i].revents != 0 && !copy_some(pipes[i].fd, files[i]))
                                pipes[i].fd = -1;
        }
}

/* Libstart's other descriptors are closed, as somebody waits for that. The sources are first moved above all of them:
 * a target may have the number of a source that is still needed. */
static bool keep_only(int fds[4]) {
        for (int i = 0; i < 4; i++)
                if (fds[i] >= 0) {
                        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FD + 4);
                        if (fds[i] < 0)
                                return false;
                }
        for (int i = 0; i < 4; i++)
                if (fds[i] < 0)
                        close(FIRST_FD + i); /* whatever it is to libstart, which may wait for its end */
                else if ((fds[i] = dup2(fds[i], FIRST_FD + i)) < 0)
                        return false;
        return syscall(SYS_close_range, FIRST_FD + 4U, ~0U, 0) == 0;
}

/* Ends with the pipes, not with a signal to all of a terminal or a cgroup: the payload may have last words. */
G_NORETURN static void run_copier(const int reads[2], const int files[2]) {
        static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGTTOU, SIGXFSZ };
        int fds[4] = { reads[0], reads[1], files[0], files[1] };

        for (gsize i = 0; i < G_N_ELEMENTS(ignored); i++)
                signal(ignored[i], SIG_IGN);
        if (!keep_only(fds))
                _exit(errno);

        struct pollfd pipes[2] = { { .fd = fds[0], .events = POLLIN }, { .fd = fds[1], .events = POLLIN } };

        copy_until_end(pipes, fds + 2);
        _exit(write_errno);
}

/* A child that sends no signal when it ends: libcrun, which waits for its children, does not see it. */
static pid_t fork_unseen(void) {
        struct clone_args args = { 0 };

        return (pid_t) syscall(SYS_clone3, &args, sizeof args);
}

bool output_copier_start(OutputCopier *copier, const int files[2], GError **error) {
        int reads[2] = { -1, -1 };
        bool started = relay_pipes_make(files, /* is_shared= */ true, reads, copier->write, error);

        if (started) {
                copier->pid = fork_unseen();
                if (copier->pid == 0) {
                        /* Our own ends would keep them from ending. */
                        fd_closep(&copier->write[0]);
                        fd_closep(&copier->write[1]);
                        run_copier(reads, files);
                }
                if (copier->pid < 0) {
                        copier->pid = 0;
                        started = error_set_errno(error, errno, "Cannot fork");
                }
        }
        fd_closep(&reads[0]);
        fd_closep(&reads[1]);
        return started;
}

void output_copier_finish(OutputCopier *copier) {
        int status;

        fd_close(&copier->write[0]);
        fd_close(&copier->write[1]);
        if (copier->pid > 0 && process_wait(copier->pid, &status, __WALL) > 0 && status != 0)
                log_warning("Some of what the container has said is lost, as it could not be written: %s",
                            WIFEXITED(status) ? g_strerror(WEXITSTATUS(status)) : "who writes it was killed");
        copier->pid = 0;
}
