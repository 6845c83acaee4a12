/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/relay/fd-store.h"
#include "tests/unit/test-main.h"

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

/* What has been seen in a store: names, and what can be read from the first descriptor of each. */
static void look_at(const char *name, const int *fds, gsize n_fds, void *data) {
        GString *seen = data;
        char byte = '-';

        for (gsize i = 0; i < n_fds; i++)
                ck_assert_int_eq(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(pread(fds[0], &byte, 1, 0), 1);
        g_string_append_printf(seen, "%s %c %d, ", name, byte, (int) n_fds);
        for (gsize i = 0; i < n_fds; i++)
                close(fds[i]);
}

static void check_content(FdStore *store, const char *expected) {
        g_autoptr(GString) seen = g_string_new(NULL);

        ck_assert(fd_store_read(store, look_at, seen, NULL));
        ck_assert_str_eq(seen->str, expected);
}

static int make_file(const char *content) {
        int fd = memfd_create("test", MFD_CLOEXEC);

        ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t) strlen(content));
        return fd;
}

static void fill(FdStore *store) {
        int fds[] = { make_file("a"), make_file("b"), make_file("c") };

        ck_assert(fd_store_add(store, "1", fds, 3, NULL));
        ck_assert(fd_store_add(store, "2", &fds[1], 2, NULL));
        ck_assert(fd_store_add(store, "1", &fds[2], 1, NULL));
        for (int i = 0; i < 3; i++)
                close(fds[i]);
}

static void close_dropped(const char *name, const int *fds, gsize n_fds, void *data) {
        for (gsize i = 0; i < n_fds; i++)
                close(fds[i]);
}

static bool is_not(const char *name, void *data) {
        return !g_str_equal(name, data);
}

START_TEST(test_content) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);

        check_content(store, "");
        fill(store);
        for (int i = 0; i < 2; i++) /* it stays as it is */
                check_content(store, "1 a 3, 2 b 2, 1 c 1, ");
        ck_assert(fd_store_sweep(store, is_not, close_dropped, (char *) "3", NULL));
        check_content(store, "1 a 3, 2 b 2, 1 c 1, ");
        ck_assert(fd_store_sweep(store, is_not, close_dropped, (char *) "1", NULL));
        check_content(store, "2 b 2, ");
        fill(store);
        check_content(store, "2 b 2, 1 a 3, 2 b 2, 1 c 1, ");
        ck_assert(fd_store_sweep(store, is_not, close_dropped, (char *) "2", NULL));
        check_content(store, "1 a 3, 1 c 1, ");
        ck_assert(fd_store_sweep(store, is_not, close_dropped, (char *) "1", NULL));
        check_content(store, "");
}
END_TEST

/* Of 4096 containers, each with a second connection to the journal. */
START_TEST(test_many) {
        g_autoptr(FdStore) store = fd_store_open(NULL, NULL);
        g_autoptr(GError) error = NULL;
        const int fds[] = { 0, 0, 0, 0, 0 };
        gsize limit = geteuid() == 0 ? 8192 : 100;

        for (gsize i = 0; i < limit; i++)
                ck_assert_msg(fd_store_add(store, "12345678", fds, 5, &error), "%zu: %s", i,
                              error ? error->message : "");
        ck_assert(fd_store_sweep(store, is_not, close_dropped, (char *) "12345678", NULL));
        check_content(store, "");
}
END_TEST

static void close_counted(const char *name, const int *fds, gsize n_fds, void *data) {
        close_dropped(name, fds, n_fds, NULL);
        g_string_append(data, name);
}

static bool has_not_ended(const char *name, void *data) {
        return !g_str_equal(name, "ended");
}

static int first_free(void) {
        int fd = dup(0);

        close(fd);
        return fd;
}

/* The oldest one stays: those behind it are dropped when they end, and what waits for room gets it. Once the queue is
 * too long, once it has too many descriptors for this process, also without the oldest, and once for any user. */
START_TEST(test_full) {
        const int fds[] = { make_file("a"), make_file("b"), make_file("c"), make_file("d"), make_file("e") };
        const struct rlimit few = { 99, 99 };
        const gsize n_fds = _i > 0 ? 5 : 1;
        g_autoptr(GString) dropped = g_string_new(NULL), expected = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(FdStore) store = NULL;
        const int small = 65536;
        int n_others = 1, before;

        if (geteuid() == 0) /* who may have any number, in any length: a user who is nobody else's */
                ck_assert_int_eq(setuid((uid_t) getpid() + 100000), 0);
        if (_i == 1)
                ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        store = fd_store_open(NULL, NULL);
        before = first_free();
        for (int fd = 3; fd < before && _i == 0; fd++) /* those of the store are the only sockets */
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        ck_assert(fd_store_add(store, "oldest", fds, 1, NULL));
        for (int i = 0; i < 2; i++)
                ck_assert(fd_store_add(store, "ended", fds, n_fds, NULL));
        while (fd_store_add(store, "other", fds, n_fds, &error))
                n_others++;
        ck_assert_msg(strstr(error->message, _i > 0 ? "Too many references" : "unavailable"), "%s", error->message);
        ck_assert_int_ge(n_others, _i == 0 ? 50 : _i == 1 ? 15 : 152);
        ck_assert(!fd_store_add(store, "ended", fds, n_fds, NULL));
        if (_i == 1) /* no more than one is taken out where that makes no room */
                ck_assert(!fd_store_sweep(store, has_not_ended, close_counted, dropped, NULL));
        ck_assert(fd_store_sweep(store, has_not_ended, close_counted, dropped, NULL));
        ck_assert_str_eq(dropped->str, "endedendedended");
        for (int i = 0; i < n_others; i++)
                g_string_append_printf(expected, "other a %zu, ", n_fds);
        g_string_insert(expected, _i == 1 ? -1 : 0, "oldest a 1, ");
        check_content(store, expected->str);
        ck_assert_int_eq(first_free(), before);
}
END_TEST

/* systemd gives the two ends back in any order; with something in the store or without. */
START_TEST(test_reopened) {
        g_autofree char *address = g_strdup_printf("@keyturn-test-%d", (int) getpid());
        int listener = listen_as(address), ends[FD_STORE_GROUP_MAX], turned[2];
        FdStore *store = fd_store_open(address, NULL);
        char text[256];

        ck_assert_ptr_nonnull(store);
        ck_assert_uint_eq(receive(listener, text, sizeof text, ends), 2);
        ck_assert_str_eq(text, "FDSTORE=1\nFDPOLL=0\nFDNAME=store");
        ck_assert_int_eq(recv(listener, text, sizeof text, MSG_DONTWAIT), -1);
        if (_i & 2)
                fill(store);
        fd_store_free(store);

        turned[0] = ends[_i & 1];
        turned[1] = ends[!(_i & 1)];
        store = fd_store_reopen(turned, NULL);
        check_content(store, _i & 2 ? "1 a 3, 2 b 2, 1 c 1, " : "");
        fill(store);
        ck_assert(fd_store_sweep(store, is_not, close_dropped, (char *) "1", NULL));
        check_content(store, _i & 2 ? "2 b 2, 2 b 2, " : "2 b 2, ");
        fd_store_free(store);
}
END_TEST

/* That is not taken for an empty end: all that lies in the other one would be forgotten. */
START_TEST(test_reopened_unreadable) {
        g_autoptr(GError) error = NULL;
        int other = _i == 0 ? make_file("") : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        const int ends[] = { socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), other };

        ck_assert_ptr_null(fd_store_reopen(ends, &error));
        ck_assert_msg(g_str_has_prefix(error->message, "Cannot look into a queue"), "%s", error->message);
}
END_TEST

static const char *const bad_addresses[] = { "", "run/notify", "vsock:2:3", "/nobody/listens/here", "@nobody-here" };

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
        { true, "1073741823", "a", NULL },
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

TEST_MAIN("fd-store", {
        tcase_add_test(tcase, test_content);
        tcase_add_test(tcase, test_many);
        tcase_add_loop_test(tcase, test_full, 0, 3);
        tcase_add_loop_test(tcase, test_reopened, 0, 4);
        tcase_add_loop_test(tcase, test_reopened_unreadable, 0, 2);
        tcase_add_loop_test(tcase, test_bad_address, 0, G_N_ELEMENTS(bad_addresses));
        tcase_add_loop_test(tcase, test_received, 0, G_N_ELEMENTS(received));
})
