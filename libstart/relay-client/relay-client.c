/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/relay-client/relay-client.h"

#define QUEUE_TIMEOUT_MSEC 5000

void relay_pipes_clear(RelayPipes *pipes) {
        fds_close(pipes->write, G_N_ELEMENTS(pipes->write));
        fds_close(pipes->read, G_N_ELEMENTS(pipes->read));
        fd_closep(&pipes->socket);
        g_free(pipes->journal);
}

/* *ret: the name of the socket that `fd` is connected to, if it is one of the journal's:
 * /run/systemd/journal/stdout, or with LogNamespace=NAME /run/systemd/journal.NAME/stdout; else NULL. False where
 * that cannot be seen. */
static bool find_journal(int fd, char **ret) {
        struct sockaddr_un peer = { 0 };
        socklen_t size = sizeof peer;
        g_autofree char *path = NULL;

        *ret = NULL;
        if (getpeername(fd, (struct sockaddr *) &peer, &size) < 0)
                return errno == ENOTSOCK || errno == ENOTCONN || errno == EBADF;
        path = g_strndup(peer.sun_path, sizeof peer.sun_path);
        if (peer.sun_family == AF_UNIX && g_str_has_prefix(path, "/run/systemd/journal") &&
            g_str_has_suffix(path, "/stdout"))
                *ret = g_steal_pointer(&path);
        return true;
}

/* One that pipe(2) made has no name in any file system. */
static bool is_anonymous_pipe(int fd, const struct stat *st) {
        struct statfs fs;

        return S_ISFIFO(st->st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
}

/* What cannot be seen is treated as a file: whatever it is, the payload does not have it. */
static RelayOutput output_of(int fd, char **ret_journal) {
        struct stat st;

        if (!find_journal(fd, ret_journal))
                return RELAY_OUTPUT_FILE;
        if (*ret_journal)
                return RELAY_OUTPUT_JOURNAL;
        if (fstat(fd, &st) < 0)
                return errno == EBADF ? RELAY_OUTPUT_OWN : RELAY_OUTPUT_FILE;
        return S_ISSOCK(st.st_mode) || stat_is_null(&st) || is_anonymous_pipe(fd, &st) ? RELAY_OUTPUT_OWN :
                                                                                         RELAY_OUTPUT_FILE;
}

RelayOutput relay_output(int fd) {
        g_autofree char *journal = NULL;

        return output_of(fd, &journal);
}

static bool open_pipe(int *ret_read, int *ret_write, GError **error) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe for the payload's output");
        *ret_read = fds[0];
        *ret_write = fds[1];
        if (fchmod(fds[1], 0666) < 0)
                return error_set_errno(error, errno, "Cannot let every user open the payload's output");
        return true;
}

int relay_connect(const char *path, GError **error) {
        int fd = socket_connect(SOCK_DGRAM | SOCK_NONBLOCK, path, error);

        if (fd < 0)
                g_prefix_error(error, "Cannot reach the log relay (is keyturn-relay.socket active?): ");
        return fd;
}

bool relay_pipes_make(const int files[2], bool is_shared, int reads[2], int writes[2], GError **error) {
        for (int i = 0; i < 2; i++) {
                if (files[i] < 0)
                        continue;
                if (i == 1 && is_shared && files[0] >= 0 && fd_is_same_file(files[0], files[1])) {
                        writes[1] = fcntl(writes[0], F_DUPFD_CLOEXEC, 3);
                        if (writes[1] < 0)
                                return error_set_errno(error, errno,
                                                       "Cannot copy a descriptor for the payload's output");
                } else if (!open_pipe(&reads[i], &writes[i], error))
                        return false;
        }
        return true;
}

/* Streams that the relay opens itself are the journal's also where there was only a file: should that get lost. */
#define DEFAULT_JOURNAL "/run/systemd/journal/stdout"

bool relay_pipes_open(const char *socket_path, int out, int err, RelayPipes *ret, GError **error) {
        g_auto(RelayPipes) pipes = RELAY_PIPES_NULL;
        g_autofree char *out_journal = NULL, *err_journal = NULL;
        RelayOutput out_kind = output_of(out, &out_journal), err_kind = output_of(err, &err_journal);
        bool is_shared = out_kind == RELAY_OUTPUT_FILE && err_kind == RELAY_OUTPUT_FILE;
        const int relayed[] = { out_kind == RELAY_OUTPUT_OWN ? -1 : out, err_kind == RELAY_OUTPUT_OWN ? -1 : err };

        if (relayed[0] < 0 && relayed[1] < 0) {
                *ret = (RelayPipes) RELAY_PIPES_NULL;
                return true;
        }
        pipes.socket = relay_connect(socket_path, error);
        if (pipes.socket < 0 || !relay_pipes_make(relayed, is_shared, pipes.read, pipes.write, error))
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
        return n >= 0 || error_set_errno(error, (int) -n, "Cannot register the container at the log relay%s",
                                         n == -ETOOMANYREFS ? ERROR_USED_UP : "");
}

bool relay_register(RelayPipes *pipes, int out, int err, const RelayRecord *payload, GError **error) {
        const int all[RELAY_ROLES] = { pipes->read[0], pipes->read[1], pipes->read[0] < 0 ? -1 : out,
                                       pipes->read[1] < 0 ? -1 : err };
        RelayRecord record = *payload; /* shallow */
        g_autofree char *text = NULL;
        int fds[RELAY_ROLES];
        size_t n_fds = 0;

        record.journal = pipes->journal;
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
        fd_close(&pipes->read[0]);
        fd_close(&pipes->read[1]);
        return true;
}
