/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/ctl/exec/input.h"
#include "tests/unit/base/expect-error.h"

static Input input;
static int command; /* where the command reads, as our end does not block */

static void begin(int from) {
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        command = fds[0];
        ck_assert(input_init(&input, from, fds[1], NULL));
}

/* One round, as that of streams.c. */
static void step(void) {
        struct pollfd ask[2];

        input_ask(&input, ask);
        ck_assert_int_gt(poll(ask, 2, 1000), 0);
        input_step(&input, ask);
}

static void expect_read(const char *expected) {
        char data[2 * PIPE_BUF];
        ssize_t n = read(command, data, sizeof data);

        ck_assert_int_eq(n, (ssize_t) strlen(expected));
        ck_assert_int_eq(memcmp(data, expected, (size_t) n), 0);
}

static void expect_failure(const char *part) {
        g_autoptr(GError) error = NULL;

        ck_assert(!input_check(&input, &error));
        expect_error(error, KT_ERROR_FAILED, part);
}

static int make_pipe(const char *text) {
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        ck_assert_int_eq(write(fds[1], text, strlen(text)), (ssize_t) strlen(text));
        return fds[0];
}

/* A regular file whose beginning cannot be read: address 0. */
static int open_bad_file(void) {
        return open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

START_TEST(test_file_that_cannot_be_read) {
        begin(open_bad_file());
        step();
        ck_assert(input.end);
        input_close(&input);
        expect_failure("Cannot read standard input: Input/output error");
}
END_TEST

START_TEST(test_pipe_that_cannot_be_shown) {
        int fds[2];

        /* Into itself. */
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        ck_assert_int_eq(write(fds[1], "x", 1), 1);
        ck_assert(input_init(&input, fds[0], fds[1], NULL));
        step();
        expect_failure("Invalid argument");
}
END_TEST

/* What the command has taken and is still in the caller's pipe would be shown again. */
START_TEST(test_pipe_that_cannot_be_emptied) {
        int from = make_pipe("once");
        _cleanup_close_ int other = open_bad_file();

        begin(from);
        step();
        expect_read("once");
        ck_assert_int_eq(dup2(other, from), from);
        step();
        ck_assert_int_eq(input.to, -1);
        expect_failure("Input/output error");
}
END_TEST

/* Another reader of the caller's pipe is no error. */
START_TEST(test_pipe_of_two) {
        char data[8];
        int from = make_pipe("once");

        begin(from);
        step();
        expect_read("once");
        ck_assert_int_eq(read(from, data, sizeof data), 4);
        step();
        input_close(&input);
        ck_assert(input_check(&input, NULL));
}
END_TEST

/* The container can write to the pipe, too. */
START_TEST(test_socket_without_room) {
        g_autofree char *full = g_strnfill(PIPE_BUF, 'x');
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(write(fds[1], "kept", 4), 4);
        begin(fds[0]);
        ck_assert_int_eq(write(input.to, full, PIPE_BUF), PIPE_BUF);
        step();
        expect_read(full);
        step();
        expect_read("kept");
        ck_assert(input_check(&input, NULL));
        input_close(&input);
}
END_TEST

/* As nohup(1) leaves it, and a directory: there is nothing to be missed. */
START_TEST(test_no_input) {
        begin(open("/dev/null", O_WRONLY | O_CLOEXEC));
        step();
        ck_assert(input.to < 0 && input_check(&input, NULL));
        begin(open("/", O_RDONLY | O_CLOEXEC));
        step();
        ck_assert(input.to < 0 && input_check(&input, NULL));
}
END_TEST

TEST_MAIN("ctl/exec/input", {
        tcase_add_test(tcase, test_file_that_cannot_be_read);
        tcase_add_test(tcase, test_pipe_that_cannot_be_shown);
        tcase_add_test(tcase, test_pipe_that_cannot_be_emptied);
        tcase_add_test(tcase, test_pipe_of_two);
        tcase_add_test(tcase, test_socket_without_room);
        tcase_add_test(tcase, test_no_input);
})
