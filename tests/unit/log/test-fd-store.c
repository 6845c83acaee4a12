/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/log/fd-store.h"

/* A stand-in for systemd's notification socket, in the abstract name space. */
static int listen_as(const char *address) {
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        memcpy(name.sun_path + 1, address + 1, strlen(address) - 1);
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &name,
                              (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(address))),
                         0);
        return fd;
}

static gsize receive(int fd, char *text, size_t size, int *fds) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(FD_STORE_GROUP_MAX * sizeof(int))];
        } control;
        struct iovec data = { text, size - 1 };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);

        ck_assert_int_ge(n, 0);
        text[n] = '\0';
        if (!c)
                return 0;
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
        return (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
}

START_TEST(test_messages) {
        g_autofree char *address = g_strdup_printf("@keyturn-test-%d", (int) getpid());
        int listener = listen_as(address), fds[FD_STORE_GROUP_MAX], ends[2], box;
        gsize n_fds;
        g_autoptr(FdStore) store = fd_store_open(address, NULL);
        char text[256];

        ck_assert_ptr_nonnull(store);
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert(fd_store_add(store, "123", ends, 2, NULL));
        ck_assert_uint_eq(receive(listener, text, sizeof text, fds), 1);
        ck_assert_str_eq(text, "FDSTORE=1\nFDPOLL=0\nFDNAME=123");
        box = fds[0];
        for (int i = 0; i < 2; i++) { /* it stays as it is */
                ck_assert(fd_store_open_box(box, fds, &n_fds, NULL));
                ck_assert_uint_eq(n_fds, 2);
                ck_assert_int_eq(fcntl(fds[1], F_GETFD), FD_CLOEXEC);
                ck_assert_int_eq(write(fds[1], "x", 1), 1);
                ck_assert_int_eq(read(ends[0], text, 1), 1);
                close(fds[0]);
                close(fds[1]);
        }
        ck_assert(!fd_store_open_box(ends[0], fds, &n_fds, NULL));

        ck_assert(fd_store_remove(store, "123", NULL));
        ck_assert_uint_eq(receive(listener, text, sizeof text, fds), 0);
        ck_assert_str_eq(text, "FDSTOREREMOVE=1\nFDNAME=123");
}
END_TEST

START_TEST(test_nobody_keeps) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        int fd = STDIN_FILENO;

        ck_assert(fd_store_add(store, "x", &fd, 1, NULL));
        ck_assert(fd_store_remove(store, "x", NULL));
}
END_TEST

static const char *const bad_addresses[] = { "", "run/notify", "vsock:2:3", "/nobody/listens/here",
                                             "@nobody-here" };

START_TEST(test_bad_address) {
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(fd_store_open(bad_addresses[_i], &error));
        ck_assert_ptr_nonnull(strstr(error->message, bad_addresses[_i]));
}
END_TEST

static const struct {
        bool ours;
        const char *fds, *names, *expected; /* names of the descriptors from 3 on */
} received[] = {
        { true, "2", "keyturn-relay.socket:12", "keyturn-relay.socket,12" },
        { true, "3", "a:b", "a,b," },
        { true, "1", NULL, "" },
        { true, "0", "", NULL },
        { true, "x", "a", NULL },
        { true, NULL, NULL, NULL },
        { false, "1", "a", NULL },
};

START_TEST(test_received) {
        g_autofree char *pid = g_strdup_printf("%d", (int) getpid() + !received[_i].ours);
        g_auto(GStrv) names = NULL;
        g_autofree ListenFd *fds = fd_store_received(pid, received[_i].fds, received[_i].names, &names);
        g_autoptr(GPtrArray) got = g_ptr_array_new();
        g_autofree char *joined = NULL;

        for (ListenFd *fd = fds; fd->fd >= 0; fd++) {
                ck_assert_int_eq(fd->fd, 3 + (int) got->len);
                g_ptr_array_add(got, (char *) fd->name);
        }
        g_ptr_array_add(got, NULL);
        joined = got->len > 1 ? g_strjoinv(",", (char **) got->pdata) : NULL;
        ck_assert_pstr_eq(joined, received[_i].expected);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("log/fd-store");
        TCase *tcase = tcase_create("fd-store");
        SRunner *runner;

        tcase_add_test(tcase, test_messages);
        tcase_add_test(tcase, test_nobody_keeps);
        tcase_add_loop_test(tcase, test_bad_address, 0, G_N_ELEMENTS(bad_addresses));
        tcase_add_loop_test(tcase, test_received, 0, G_N_ELEMENTS(received));
        suite_add_tcase(suite, tcase);
        runner = srunner_create(suite);
        srunner_set_tap(runner, "-");
        srunner_run_all(runner, CK_SILENT);
        srunner_free(runner);
        return 0;
}
