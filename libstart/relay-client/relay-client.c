/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/vfs.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/relay-client/record.h"
#include "libstart/relay-client/relay-client.h"

#define QUEUE_TIMEOUT_MSEC 5000

void relay_pipes_clear(RelayPipes *pipes) {
        fd_close(&pipes->stdout_write);
        fd_close(&pipes->stderr_write);
        fd_close(&pipes->stdout_read);
        fd_close(&pipes->stderr_read);
        fd_close(&pipes->socket);
        g_clear_pointer(&pipes->journal, g_free);
}

/* The name of the socket that `fd` is connected to, if it is one of the journal's:
 * /run/systemd/journal/stdout, or with LogNamespace=NAME /run/systemd/journal.NAME/stdout. */
static char *journal_of(int fd) {
        struct sockaddr_un peer = { 0 };
        socklen_t size = sizeof peer;
        g_autofree char *path = NULL;

        if (getpeername(fd, (struct sockaddr *) &peer, &size) < 0 || peer.sun_family != AF_UNIX)
                return NULL;
        path = g_strndup(peer.sun_path, sizeof peer.sun_path);
        if (!g_str_has_prefix(path, "/run/systemd/journal") || !g_str_has_suffix(path, "/stdout"))
                return NULL;
        return g_steal_pointer(&path);
}

static bool is_null(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* One that pipe(2) made has no name in any file system. */
static bool is_anonymous_pipe(int fd, const struct stat *st) {
        struct statfs fs;

        return S_ISFIFO(st->st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
}

static RelayOutput output_of(int fd, char **ret_journal) {
        struct stat st;

        *ret_journal = journal_of(fd);
        if (*ret_journal)
                return RELAY_OUTPUT_JOURNAL;
        if (fstat(fd, &st) < 0 || S_ISSOCK(st.st_mode) || is_null(&st) || is_anonymous_pipe(fd, &st))
                return RELAY_OUTPUT_OWN;
        return RELAY_OUTPUT_FILE;
}

RelayOutput relay_output(int fd) {
        g_autofree char *journal = NULL;

        return output_of(fd, &journal);
}

bool relay_pipe_open(int *ret_read, int *ret_write, GError **error) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe for the payload's output");
        *ret_read = fds[0];
        *ret_write = fds[1];
        if (fchmod(fds[1], 0666) < 0)
                return error_set_errno(error, errno, "Cannot let every user open the payload's output");
        return true;
}

bool relay_pipe_share(int fd, int *ret, GError **error) {
        *ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        return *ret >= 0 || error_set_errno(error, errno, "Cannot copy a descriptor for the payload's output");
}

int relay_connect(const char *path, GError **error) {
        int fd = socket_connect(SOCK_DGRAM | SOCK_NONBLOCK, path, error);

        if (fd < 0)
                g_prefix_error(error, "Cannot reach the log relay (is keyturn-relay.socket active?): ");
        return fd;
}

bool relay_is_same_file(int a, int b) {
        struct stat first, second;

        return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
}

/* Streams that the relay opens itself are the journal's also where there was only a file: should that get lost. */
#define DEFAULT_JOURNAL "/run/systemd/journal/stdout"

bool relay_pipes_open(const char *socket_path, int out, int err, RelayPipes *ret, GError **error) {
        g_auto(RelayPipes) pipes = RELAY_PIPES_NULL;
        g_autofree char *out_journal = NULL, *err_journal = NULL;
        RelayOutput out_kind = output_of(out, &out_journal), err_kind = output_of(err, &err_journal);

        if (out_kind == RELAY_OUTPUT_OWN && err_kind == RELAY_OUTPUT_OWN) {
                *ret = (RelayPipes) RELAY_PIPES_NULL;
                return true;
        }
        pipes.socket = relay_connect(socket_path, error);
        if (pipes.socket < 0 ||
            (out_kind != RELAY_OUTPUT_OWN && !relay_pipe_open(&pipes.stdout_read, &pipes.stdout_write, error)))
                return false;
        if (err_kind == RELAY_OUTPUT_FILE && out_kind == RELAY_OUTPUT_FILE && relay_is_same_file(out, err)) {
                if (!relay_pipe_share(pipes.stdout_write, &pipes.stderr_write, error))
                        return false;
        } else if (err_kind != RELAY_OUTPUT_OWN && !relay_pipe_open(&pipes.stderr_read, &pipes.stderr_write, error))
                return false;
        pipes.journal = out_journal ? g_steal_pointer(&out_journal) : g_steal_pointer(&err_journal);
        if (!pipes.journal)
                pipes.journal = g_strdup(DEFAULT_JOURNAL);
        *ret = pipes;
        pipes = (RelayPipes) RELAY_PIPES_NULL;
        return true;
}

bool relay_send(int socket, const char *text, const int *fds, size_t n_fds, GError **error) {
        const SocketExtra extra = { SCM_RIGHTS, fds, n_fds * sizeof *fds };
        struct pollfd writable = { .fd = socket, .events = POLLOUT };
        ssize_t n;

        while ((n = socket_send(socket, NULL, text, strlen(text), &extra, 0)) == -EAGAIN)
                if (poll(&writable, 1, QUEUE_TIMEOUT_MSEC) == 0)
                        return error_set(error, KT_ERROR_FAILED,
                                         "The log relay does not read its socket (see 'systemctl status "
                                         "keyturn-relay.service')");
        return n >= 0 || error_set_errno(error, (int) -n, "Cannot register the container at the log relay");
}

bool relay_register(RelayPipes *pipes, int out, int err, const RelayPayload *payload, GError **error) {
        const int all[RELAY_ROLES] = { pipes->stdout_read, pipes->stderr_read, pipes->stdout_read < 0 ? -1 : out,
                                       pipes->stderr_read < 0 ? -1 : err };
        RelayRecord record = {
                .unit = (char *) payload->unit,
                .tag = (char *) payload->tag,
                .journal = pipes->journal,
                .payload = payload->pid,
                .has_user = true,
                .uid = payload->uid,
                .gid = payload->gid,
                .level_prefix = payload->level_prefix,
        };
        g_autofree char *text = NULL;
        int fds[RELAY_ROLES];
        size_t n_fds = 0;

        for (guint role = 0; role < RELAY_ROLES; role++)
                if (all[role] >= 0) {
                        record.roles |= 1U << role;
                        fds[n_fds++] = all[role];
                }
        if (n_fds == 0)
                return true;
        text = relay_record_format(&record, error);
        if (!text || !relay_send(pipes->socket, text, fds, n_fds, error))
                return false;
        fd_close(&pipes->stdout_read);
        fd_close(&pipes->stderr_read);
        return true;
}
