/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libstart/relay/journal.h"
#include "libstart/relay/pump.h"
#include "tests/unit/test-main.h"

/* A receiver that takes what it is told to take. */
typedef struct Receiver {
        GString *got;
        ssize_t at_most; /* bytes a call, or a negative errno */
} Receiver;

static Pump pump;
static int pipe_fds[2];
static Receiver receiver;

static ssize_t receive(char *data, size_t size, void *context) {
        Receiver *r = context;

        if (r->at_most < 0)
                return r->at_most;
        if (size > (size_t) r->at_most)
                size = (size_t) r->at_most;
        g_string_append_len(r->got, data, (gssize) size);
        return (ssize_t) size;
}

static void setup(void) {
        pump_open(&pump);
        ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
        ck_assert_int_eq(fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK), 0); /* as the relay does */
        receiver = (Receiver) { .got = g_string_new(NULL), .at_most = G_MAXSSIZE };
        /* It has its scratch pipe then. */
        ck_assert_int_eq(pump_move(&pump, pipe_fds[0], false, receive, &receiver), PUMP_IDLE);
}

static void teardown(void) {
        pump_clear(&pump);
        g_string_free(receiver.got, TRUE);
}

static PumpResult move(bool hung_up) {
        return pump_move(&pump, pipe_fds[0], hung_up, receive, &receiver);
}

static void say(const char *text) {
        ck_assert_int_eq(write(pipe_fds[1], text, strlen(text)), (ssize_t) strlen(text));
}

static int waiting(void) {
        int n = -1;

        ck_assert_int_eq(ioctl(pipe_fds[0], FIONREAD, &n), 0);
        return n;
}

START_TEST(test_whole_lines) {
        say("one\ntwo\nthr");
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "one\ntwo\n");
        ck_assert_int_eq(move(false), PUMP_WAITING);
        ck_assert_int_eq(waiting(), 3);
        say("ee\n");
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "one\ntwo\nthree\n");
        ck_assert_int_eq(move(false), PUMP_IDLE);
        ck_assert_int_eq(waiting(), 0);
}
END_TEST

START_TEST(test_end) {
        say("last words");
        close(pipe_fds[1]);
        ck_assert_int_eq(move(false), PUMP_WAITING);
        ck_assert_int_eq(move(true), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "last words");
        ck_assert_int_eq(move(true), PUMP_ENDED);
}
END_TEST

/* Looking whether the pipe is full opens it for writing, which must not keep it from ending. */
START_TEST(test_end_after_idle) {
        say("x");
        ck_assert_int_eq(move(false), PUMP_WAITING);
        close(pipe_fds[1]);
        ck_assert_int_eq(move(false), PUMP_WAITING);
        ck_assert_int_eq(move(true), PUMP_MORE);
        ck_assert_int_eq(move(true), PUMP_ENDED);
}
END_TEST

static const int failures[] = { -EPIPE, -ECONNRESET, -EPERM, -ESRCH };

/* Whatever becomes of the receiver, the bytes are still there. */
START_TEST(test_failure_takes_nothing) {
        say("one\ntwo\n");
        receiver.at_most = failures[_i];
        ck_assert_int_eq(move(false), PUMP_FAILED);
        ck_assert_int_eq(errno, -failures[_i]);
        receiver.at_most = -EAGAIN;
        ck_assert_int_eq(move(false), PUMP_BLOCKED);
        ck_assert_int_eq(waiting(), 8);
        receiver.at_most = G_MAXSSIZE;
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "one\ntwo\n");
}
END_TEST

START_TEST(test_taken_in_parts) {
        say("one\ntwo\nthree\n");
        receiver.at_most = 5;
        while (move(false) == PUMP_MORE)
                ;
        ck_assert_str_eq(receiver.got->str, "one\ntwo\nthree\n");
        ck_assert_int_eq(waiting(), 0);
}
END_TEST

/* A line longer than a batch, and one that fills the pipe, must not wait for their ends. */
START_TEST(test_long_lines) {
        g_autofree char *text = g_strnfill(JOURNAL_BATCH_MAX + 100, 'x');

        say(text);
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_uint_eq(receiver.got->len, JOURNAL_BATCH_MAX);
        ck_assert_int_eq(move(false), PUMP_WAITING);
        ck_assert_int_eq(waiting(), 100);

        ck_assert_int_ge(fcntl(pipe_fds[0], F_SETPIPE_SZ, 4096), 4096);
        g_string_truncate(receiver.got, 0);
        text[4096 - 100] = '\0';
        say(text);
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_uint_eq(receiver.got->len, 4096);
}
END_TEST

/* In packet mode a pipe is full when its slots are, with however few bytes. */
static void fill_with_packets(void) {
        ck_assert_int_eq(fcntl(pipe_fds[1], F_SETFL, O_DIRECT | O_NONBLOCK), 0);
        while (write(pipe_fds[1], "x", 1) == 1)
                ;
        ck_assert_int_eq(errno, EAGAIN);
}

START_TEST(test_full_of_packets) {
        fill_with_packets();
        ck_assert_int_lt(waiting(), 4096);
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_int_eq(waiting(), 0);
}
END_TEST

/* The scratch pipe has fewer slots than this one, so a line's end may lie beyond what was looked at. */
START_TEST(test_more_slots_than_scratch) {
        ck_assert_int_ge(fcntl(pipe_fds[0], F_SETPIPE_SZ, 256 * 1024), 0);
        ck_assert_int_eq(fcntl(pipe_fds[1], F_SETFL, O_DIRECT | O_NONBLOCK), 0);
        for (int i = 0; i < 40; i++)
                say(i == 39 ? "\n" : "x");
        while (move(false) == PUMP_MORE)
                ;
        ck_assert_uint_eq(receiver.got->len, 40);
}
END_TEST

/*
 * Hostile payloads. They have descriptions of their own of the pipe, which are blocking.
 */

static int reopen(int flags) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", pipe_fds[1]);
        int fd = open(path, flags | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        return fd;
}

static int thief;

/* Between the look into the pipe and the taking. */
static ssize_t receive_and_steal(char *data, size_t size, void *context) {
        char buffer[4096];
        ssize_t n = receive(data, size, context);

        ck_assert_int_gt(read(thief, buffer, sizeof buffer), 0);
        return n;
}

START_TEST(test_payload_reads_first) {
        thief = reopen(O_RDONLY);
        say("one\ntwo\n");
        ck_assert_int_eq(pump_move(&pump, pipe_fds[0], false, receive_and_steal, &receiver), PUMP_MORE);
        ck_assert_int_eq(move(false), PUMP_IDLE);
        say("three\n");
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "one\ntwo\nthree\n");
        close(thief);
}
END_TEST

static ssize_t receive_and_exchange(char *data, size_t size, void *context) {
        char buffer[65536];
        ssize_t n = receive(data, size, context);

        ck_assert_int_gt(read(thief, buffer, sizeof buffer), 0);
        fcntl(pipe_fds[0], F_SETPIPE_SZ, 1 << 20);
        ck_assert_int_eq(fcntl(pipe_fds[1], F_SETFL, O_DIRECT | O_NONBLOCK), 0);
        while (write(pipe_fds[1], "x", 1) == 1)
                ;
        return n;
}

/* It takes a large batch, and puts many small pieces in its place: one call takes only some of them. */
START_TEST(test_payload_exchanges) {
        g_autofree char *text = g_strnfill(4000, 'y');
        int before, after;

        text[3999] = '\n';
        thief = reopen(O_RDONLY);
        say(text);
        ck_assert_int_eq(pump_move(&pump, pipe_fds[0], false, receive_and_exchange, &receiver), PUMP_MORE);
        before = waiting();
        ck_assert_int_gt(before, 100);
        ck_assert_int_eq(move(true), PUMP_MORE);
        after = waiting();
        ck_assert_int_lt(after, before);
        ck_assert_int_lt(before - after, 64);
        close(thief);
}
END_TEST

/* Something of another payload's is in the scratch pipe, because its reading failed: nobody else says that. */
START_TEST(test_scratch_is_not_empty) {
        ck_assert_int_eq(write(pump.scratch_write, "of another\n", 11), 11);
        ck_assert_int_eq(move(false), PUMP_IDLE);
        say("mine\n");
        for (int i = 0; i < 3; i++)
                (void) move(false);
        ck_assert_str_eq(receiver.got->str, "mine\n");
}
END_TEST

/* Another one's takes all of the room, and this one's last line is in its pipe. */
START_TEST(test_scratch_is_full) {
        while (write(pump.scratch_write, "of another\n", 11) == 11)
                ;
        say("mine\n");
        close(pipe_fds[1]);
        ck_assert_int_eq(move(true), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "mine\n");
        ck_assert_int_eq(move(true), PUMP_ENDED);
}
END_TEST

/* A look that fails is no end of a pipe: it is tried again. */
START_TEST(test_look_fails) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        ck_assert_int_eq(pump_move(&pump, null, true, receive, &receiver), PUMP_FAILED);
        ck_assert_int_eq(errno, EINVAL);
        close(null);
}
END_TEST

START_TEST(test_scratch_fails) {
        int reader = pump.scratch_read; /* stays open, or tee(2) would find nobody to read it */

        pump.scratch_read = open("/dev/null", O_WRONLY | O_CLOEXEC);
        say("mine\n");
        (void) move(false);
        ck_assert_uint_eq(receiver.got->len, 0);
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "mine\n");
        close(reader);
}
END_TEST

/* Its content may change after each look: then it is what the payload wanted to say. */
START_TEST(test_pages_that_change) {
        char *page = g_malloc0(8192);
        struct iovec iov = { page, 6 };

        memcpy(page, "one\nxy", 6);
        ck_assert_int_eq(vmsplice(pipe_fds[1], &iov, 1, 0), 6);
        memcpy(page, "two\nzw", 6);
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_str_eq(receiver.got->str, "two\n");
        memcpy(page, "\n\n\n\n\n\n", 6);
        ck_assert_int_eq(move(false), PUMP_MORE);
        ck_assert_int_eq(waiting(), 0);
        g_free(page);
}
END_TEST

TEST_MAIN("pump", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_whole_lines);
        tcase_add_test(tcase, test_end);
        tcase_add_test(tcase, test_end_after_idle);
        tcase_add_loop_test(tcase, test_failure_takes_nothing, 0, G_N_ELEMENTS(failures));
        tcase_add_test(tcase, test_taken_in_parts);
        tcase_add_test(tcase, test_long_lines);
        tcase_add_test(tcase, test_full_of_packets);
        tcase_add_test(tcase, test_more_slots_than_scratch);
        tcase_add_test(tcase, test_payload_reads_first);
        tcase_add_test(tcase, test_payload_exchanges);
        tcase_add_test(tcase, test_scratch_is_not_empty);
        tcase_add_test(tcase, test_scratch_is_full);
        tcase_add_test(tcase, test_look_fails);
        tcase_add_test(tcase, test_scratch_fails);
        tcase_add_test(tcase, test_pages_that_change);
})
