/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/relay-client/relay-client.h"
#include "libstart/relay/relay-loop.h"
#include "tests/unit/test-main.h"

/* The relay between a systemd, a journal and payloads that are played by a test. */

static char *directory, *systemd_path;
static int systemd;  /* what it is told */
static int queue[2]; /* registrations: ours, the relay's */

static int bind_at(const char *path, int type) {
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        g_strlcpy(name.sun_path, path, sizeof name.sun_path);
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &name, sizeof name), 0);
        return fd;
}

/* Who sends is told with each message. */
static void ask_for_senders(int fd) {
        int on = 1;

        ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
}

static void play_systemd(void) {
        directory = g_dir_make_tmp(NULL, NULL);
        systemd_path = g_strconcat(directory, "/systemd", NULL);
        systemd = bind_at(systemd_path, SOCK_DGRAM);
        ask_for_senders(systemd);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, queue), 0);
}

static void remove_directory(void) {
        unlink(systemd_path);
        rmdir(directory);
}

static Relay *open_relay(FdStore *store) {
        Relay *relay = relay_new(dup(queue[1]), store, systemd_path, NULL);

        ck_assert_ptr_nonnull(relay);
        return relay;
}

static void count(const char *name, const int *fds, gsize n_fds, void *data) {
        *(guint *) data += (guint) n_fds;
        fds_close(fds, n_fds);
}

static guint n_stored(FdStore *store) {
        guint n = 0;

        ck_assert(fd_store_read(store, count, &n, NULL));
        return n;
}

/* Who waits for room, and is stopped and goes on, has written a part. */
static void say(int fd, const char *text) {
        gsize length = strlen(text);

        do {
                ssize_t n = write(fd, text, length);

                ck_assert(n >= 0 && (n > 0 || length == 0));
                text += n;
                length -= (gsize) n;
        } while (length > 0);
}

/*
 * Killed at any moment: the relay is a child then. We hold what it stores, as systemd does, and give it to the next.
 */

/* The ends of the store, as systemd has them once the first relay has begun. */
static void receive_ends(int *ends) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(2 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        } control;
        char text[256];
        struct iovec data = { text, sizeof text };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };

        ck_assert_int_gt(recvmsg(systemd, &message, MSG_CMSG_CLOEXEC), 0);
        ends[0] = ends[1] = -1;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                if (c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
                        memcpy(ends, CMSG_DATA(c), 2 * sizeof(int));
        ck_assert_int_ge(ends[1], 0);
}

static pid_t fork_relay(const int *ends) {
        pid_t pid = fork();
        Relay *relay;

        if (pid != 0)
                return pid;
        relay = open_relay(fd_store_reopen(ends, NULL));
        ck_assert(relay_restore(relay, NULL));
        while (relay_step(relay, -1, NULL))
                ;
        _exit(1);
}

static pid_t replace_relay(pid_t relay, const int *ends) {
        kill(relay, SIGKILL);
        ck_assert_int_eq(waitpid(relay, NULL, 0), relay);
        return fork_relay(ends);
}
