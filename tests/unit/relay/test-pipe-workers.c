/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "libstart/relay/pipe-workers.h"

/* Something to be moved, and whether that was done. What it is moved to may be full, and then keeps the worker: like
 * the lock of a pipe, but for the state in which it waits. */
typedef struct Task {
        int in[2], out[2];
        guint done, given_back;
        PipeMove move;
} Task;

#define HELD_SIZE 65536 /* what a pipe holds is 16 pages, whatever their size, until it is told */

static int epoll;
static PipeWorkers *workers;

static void over(const PipeJob *job, bool done, void *owner, void *data) {
        Task *task = owner;

        task->done += done;
        task->given_back += !done;
        task->move = job->move;
}

static void setup(void) {
        epoll = epoll_create1(EPOLL_CLOEXEC);
        workers = pipe_workers_new(epoll, over, NULL, NULL);
        ck_assert_ptr_nonnull(workers);
}

static void teardown(void) {
        pipe_workers_free(workers);
        close(epoll);
}

static void open_task(Task *task, bool holds) {
        static char full[HELD_SIZE];

        *task = (Task) { 0 };
        ck_assert_int_eq(pipe2(task->in, O_CLOEXEC | O_NONBLOCK), 0);
        ck_assert_int_eq(pipe2(task->out, O_CLOEXEC), 0);
        ck_assert_int_eq(fcntl(task->out[1], F_SETPIPE_SZ, HELD_SIZE), HELD_SIZE);
        ck_assert_int_eq(write(task->in[1], "text", 4), 4);
        if (holds)
                ck_assert_int_eq(write(task->out[1], full, sizeof full), sizeof full);
}

static bool add(Task *task, PipeLane lane, const char *account) {
        PipeJob job = { .kind = PIPE_JOB_MOVE,
                        .move = { .pipe = task->in[0],
                                  .journal = -1,
                                  .file = task->out[1],
                                  .sink = task->out[1],
                                  .left = G_MAXSIZE } };

        if (!pipe_workers_can_add(workers, lane, account))
                return false;
        pipe_workers_add(workers, lane, &job, account, task);
        return true;
}

static void step(void) {
        struct epoll_event event;

        ck_assert(pipe_workers_start(workers, NULL));
        if (epoll_wait(epoll, &event, 1, pipe_workers_wait_time(workers, 100)) == 1)
                pipe_workers_event(workers, &event);
        pipe_workers_check(workers);
}

static void steps_until(const guint *changed) {
        for (int i = 0; i < 500 && *changed == 0; i++)
                step();
        ck_assert_uint_eq(*changed, 1);
}

static void release(const Task *task) {
        static char buffer[HELD_SIZE];

        ck_assert_int_gt(read(task->out[0], buffer, sizeof buffer), 0);
}

START_TEST(test_one_after_the_other) {
        Task tasks[3];

        for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) {
                char text[5] = "";

                open_task(&tasks[i], false);
                ck_assert(add(&tasks[i], PIPE_LANE_QUICK, "a"));
                ck_assert(pipe_workers_start(workers, NULL));
                ck_assert(!pipe_workers_can_add(workers, PIPE_LANE_QUICK, "b")); /* it works */
                steps_until(&tasks[i].done);
                ck_assert_int_eq(tasks[i].move.result, PUMP_IDLE);
                ck_assert_uint_eq(tasks[i].move.moved, 4);
                ck_assert_int_eq(read(tasks[i].out[0], text, 4), 4);
                ck_assert_str_eq(text, "text");
        }
}
END_TEST

/* The rest of the batch is given back, and all others go on; the account that holds the worker gets no second one. */
START_TEST(test_one_is_held) {
        Task before, held, after, other;

        open_task(&before, false);
        open_task(&held, true);
        open_task(&after, false);
        open_task(&other, false);
        ck_assert(add(&before, PIPE_LANE_QUICK, "a"));
        ck_assert(add(&held, PIPE_LANE_QUICK, "b"));
        ck_assert(add(&after, PIPE_LANE_QUICK, "c"));
        steps_until(&after.given_back);
        ck_assert_uint_eq(before.done, 1);
        ck_assert_uint_eq(held.done + held.given_back, 0);

        ck_assert(!add(&other, PIPE_LANE_QUICK, "b"));
        ck_assert(!add(&other, PIPE_LANE_SLOW, "b"));
        ck_assert(add(&after, PIPE_LANE_QUICK, "c"));
        steps_until(&after.done);

        release(&held);
        steps_until(&held.done);
        ck_assert_int_gt(held.move.moved, 0);
        ck_assert(add(&other, PIPE_LANE_QUICK, "b"));
        steps_until(&other.done);
}
END_TEST

/* Each holds one worker, and no more. */
START_TEST(test_many_are_held) {
        Task tasks[20], other;

        for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) {
                g_autofree char *account = g_strdup_printf("%u", i);

                open_task(&tasks[i], true);
                while (!add(&tasks[i], i % 2 ? PIPE_LANE_SLOW : PIPE_LANE_QUICK, g_intern_string(account)))
                        step();
                step();
        }
        for (int i = 0; i < 20; i++)
                step();
        open_task(&other, false);
        ck_assert(add(&other, PIPE_LANE_QUICK, "other"));
        steps_until(&other.done);
        for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) {
                release(&tasks[i]);
                steps_until(&tasks[i].done);
        }
}
END_TEST

/* Of one account there are no jobs in both lanes. */
START_TEST(test_lanes_share_accounts) {
        Task held, other;

        open_task(&held, true);
        open_task(&other, false);
        ck_assert(add(&held, PIPE_LANE_SLOW, "a"));
        step();
        ck_assert(!add(&other, PIPE_LANE_QUICK, "a"));
        ck_assert(add(&other, PIPE_LANE_QUICK, "b"));
        steps_until(&other.done);
        release(&held);
        steps_until(&held.done);
}
END_TEST

static pid_t child(void) {
        FILE *file = fopen("/proc/thread-self/children", "re");
        int pid = 0;

        ck_assert_ptr_nonnull(file);
        ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
        fclose(file);
        return pid;
}

/* What a worker had is ordered again when somebody kills it, and a new one does it. */
START_TEST(test_killed) {
        Task held;

        open_task(&held, true);
        ck_assert(add(&held, PIPE_LANE_QUICK, "a"));
        for (int i = 0; i < 5; i++)
                step();
        ck_assert_int_eq(kill(child(), SIGKILL), 0);
        steps_until(&held.given_back);
        release(&held);
        ck_assert(add(&held, PIPE_LANE_QUICK, "a"));
        steps_until(&held.done);
}
END_TEST

START_TEST(test_close) {
        PipeJob job = { .kind = PIPE_JOB_CLOSE };
        Task task;

        open_task(&task, false);
        memset(job.fds, 0xff, sizeof job.fds);
        job.fds[1] = task.in[0];
        job.fds[7] = task.in[1];
        pipe_workers_add(workers, PIPE_LANE_SLOW, &job, "a", &task);
        steps_until(&task.done);
        ck_assert_int_eq(fcntl(task.in[0], F_GETFD), -1);
        ck_assert_int_eq(fcntl(task.in[1], F_GETFD), -1);
        ck_assert_int_ge(fcntl(task.out[0], F_GETFD), 0);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("relay/pipe-workers");
        TCase *tcase = tcase_create("pipe-workers");
        SRunner *runner;

        tcase_set_timeout(tcase, 60);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_one_after_the_other);
        tcase_add_test(tcase, test_one_is_held);
        tcase_add_test(tcase, test_many_are_held);
        tcase_add_test(tcase, test_lanes_share_accounts);
        tcase_add_test(tcase, test_killed);
        tcase_add_test(tcase, test_close);
        suite_add_tcase(suite, tcase);
        runner = srunner_create(suite);
        srunner_set_tap(runner, "-");
        srunner_run_all(runner, CK_SILENT);
        srunner_free(runner);
        return 0;
}
