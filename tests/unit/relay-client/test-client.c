/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/relay-client/relay-client.h"
#include "tests/unit/fail-call.h"
#include "tests/unit/test-main.h"

/* Connections to the journal itself are for the booted tests: they are known by the name of its socket. */

static void listen_at(const char *path, int *ret) {
        struct sockaddr_un name = { .sun_family = AF_UNIX };

        g_strlcpy(name.sun_path, path, sizeof name.sun_path);
        *ret = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(bind(*ret, (struct sockaddr *) &name, sizeof name), 0);
        ck_assert_int_eq(listen(*ret, 1), 0);
}

START_TEST(test_kinds) {
        g_autofree char *directory = g_dir_make_tmp(NULL, NULL), *path = g_strconcat(directory, "/stdout", NULL),
                        *fifo = g_strconcat(directory, "/fifo", NULL);
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        int listener, other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), ends[2], pair[2];

        listen_at(path, &listener);
        g_strlcpy(name.sun_path, path, sizeof name.sun_path);
        ck_assert_int_eq(connect(other, (struct sockaddr *) &name, sizeof name), 0);
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);

        ck_assert_int_eq(relay_output(other), RELAY_OUTPUT_OWN);
        ck_assert_int_eq(relay_output(ends[1]), RELAY_OUTPUT_OWN);
        ck_assert_int_eq(relay_output(pair[0]), RELAY_OUTPUT_OWN);
        ck_assert_int_eq(relay_output(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), RELAY_OUTPUT_OWN);
        ck_assert_int_eq(relay_output(open("/dev/null", O_WRONLY | O_CLOEXEC)), RELAY_OUTPUT_OWN);
        ck_assert_int_eq(relay_output(-1), RELAY_OUTPUT_OWN);
        ck_assert_int_eq(relay_output(fileno(tmpfile())), RELAY_OUTPUT_FILE);
        ck_assert_int_eq(relay_output(open("/dev/zero", O_WRONLY | O_CLOEXEC)), RELAY_OUTPUT_FILE);
        ck_assert_int_eq(relay_output(open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY)), RELAY_OUTPUT_FILE);
        ck_assert_int_eq(mkfifo(fifo, 0600), 0);
        ck_assert_int_eq(relay_output(open(fifo, O_RDWR | O_CLOEXEC)), RELAY_OUTPUT_FILE);
        unlink(fifo);
        unlink(path);
        rmdir(directory);
}
END_TEST

/* What cannot be seen could be a file: it is not given to the payload. */
START_TEST(test_kind_is_not_known) {
        int pair[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        if (!fail_call(SYS_getpeername, FAIL_ALL, ENOBUFS))
                return;
        ck_assert_int_eq(relay_output(pair[0]), RELAY_OUTPUT_FILE);
        ck_assert(fail_call(SYS_getpeername, FAIL_ALL, ENOTSOCK) && fail_fstat(ENOMEM));
        ck_assert_int_eq(relay_output(null), RELAY_OUTPUT_FILE);
}
END_TEST

/* Nobody asks for the relay where there is nothing to relay, so it need not be there. */
START_TEST(test_open_nothing) {
        g_auto(RelayPipes) pipes = RELAY_PIPES_NULL;
        RelayRecord payload = { .payload = getpid(), .unit = (char *) "a.service", .tag = (char *) "a" };

        ck_assert(relay_pipes_open("/nowhere", -1, -1, &pipes, NULL));
        ck_assert_int_eq(pipes.write[0], -1);
        ck_assert_int_eq(pipes.write[1], -1);
        ck_assert_int_eq(pipes.socket, -1);
        ck_assert(relay_register(&pipes, -1, -1, &payload, NULL));
}
END_TEST

static ino_t inode_of(int fd) {
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        return st.st_ino;
}

static const struct {
        bool out, err;
        guint roles;
} registrations[] = {
        { true, true, 15 },
        { true, false, 1U << RELAY_STDOUT_PIPE | 1U << RELAY_STDOUT_STREAM },
        { false, true, 1U << RELAY_STDERR_PIPE | 1U << RELAY_STDERR_STREAM },
};

START_TEST(test_register) {
        int queue[2], pair[2], out[2], err[2], fds[RELAY_ROLES];
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof fds)];
        } control;
        char text[1024];
        struct iovec data = { text, sizeof text - 1 };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        RelayRecord payload = {
                .payload = 42, .uid = 7, .gid = 8, .unit = (char *) "a.service", .tag = (char *) "tag"
        };
        g_auto(RelayPipes) pipes = RELAY_PIPES_NULL;
        g_auto(RelayRecord) record = { 0 };
        g_autoptr(GArray) inodes = g_array_new(FALSE, FALSE, sizeof(ino_t));
        ssize_t n;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, queue), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
        pipes.socket = queue[0];
        pipes.journal = g_strdup("/j");
        pipes.read[0] = registrations[_i].out ? out[0] : -1;
        pipes.read[1] = registrations[_i].err ? err[0] : -1;
        for (guint role = 0; role < RELAY_ROLES; role++) {
                const int all[RELAY_ROLES] = { out[0], err[0], pair[0], pair[1] };
                ino_t inode = inode_of(all[role]);

                if (registrations[_i].roles & 1U << role)
                        g_array_append_val(inodes, inode);
        }

        ck_assert(relay_register(&pipes, pair[0], pair[1], &payload, NULL));
        ck_assert_int_eq(pipes.read[0], -1);
        ck_assert_int_eq(pipes.read[1], -1);
        n = recvmsg(queue[1], &message, MSG_DONTWAIT);
        ck_assert_int_gt(n, 0);
        text[n] = '\0';
        ck_assert(relay_record_parse(text, &record, NULL));
        ck_assert_str_eq(record.unit, "a.service");
        ck_assert_str_eq(record.tag, "tag");
        ck_assert_str_eq(record.journal, "/j");
        ck_assert_int_eq(record.payload, 42);
        ck_assert_uint_eq(record.uid, 7);
        ck_assert_uint_eq(record.gid, 8);
        ck_assert_uint_eq(record.roles, registrations[_i].roles);
        ck_assert_uint_eq(control.header.cmsg_len, CMSG_LEN(inodes->len * sizeof(int)));
        memcpy(fds, CMSG_DATA(&control.header), inodes->len * sizeof(int));
        for (guint i = 0; i < inodes->len; i++)
                ck_assert_uint_eq(inode_of(fds[i]), g_array_index(inodes, ino_t, i));
}
END_TEST

START_TEST(test_relay_is_gone) {
        RelayRecord payload = { .payload = 42, .unit = (char *) "a.service", .tag = (char *) "tag" };
        g_auto(RelayPipes) pipes = RELAY_PIPES_NULL;
        g_autoptr(GError) error = NULL;
        int queue[2], ends[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, queue), 0);
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        close(queue[1]);
        pipes.socket = queue[0];
        pipes.journal = g_strdup("/j");
        pipes.read[0] = ends[0];
        ck_assert(!relay_register(&pipes, ends[0], -1, &payload, &error));
        ck_assert_str_eq(error->message, "Cannot register the container at the log relay: Connection refused");
}
END_TEST

TEST_MAIN("client", {
        tcase_add_test(tcase, test_kinds);
        tcase_add_test(tcase, test_kind_is_not_known);
        tcase_add_test(tcase, test_open_nothing);
        tcase_add_loop_test(tcase, test_register, 0, G_N_ELEMENTS(registrations));
        tcase_add_test(tcase, test_relay_is_gone);
})
