/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/health/check-follow.h"
#include "libstart/health/check-round.h"
#include "libstart/request/health-request.h"

/* The threat: containers are strangers to each other, and one whose checks take long, or fail at each step, must not
 * be in the way of others. So nothing here waits for one container alone, and what can wait is done by a process of
 * its own. */

/* Descriptors that are open for moments, or all the time, whatever is under way. */
#define SPARE_DESCRIPTORS 32

/* Checks that are as young as this keep a processor busy; the next ones wait for them, so that fifty containers are
 * no thunderbolt. An older one waits for something, and is not waited for. */
#define YOUNG_USEC (10 * G_TIME_SPAN_MILLISECOND)

typedef struct Runner {
        Check *check;
        gint64 begun;
        pid_t follower; /* its check has ended, and this process does what follows */
        int process;    /* a pidfd */
} Runner;

typedef struct Round {
        const char *span;
        gint64 interval;
        gint64 next;        /* when somebody's turn can have come again */
        GQueue waiting;     /* names of containers */
        GPtrArray *running; /* of Runner */
        guint max_running;
} Round;

static void runner_free(void *data) {
        Runner *runner = data;

        check_free(runner->check);
        fd_closep(&runner->process);
        g_free(runner);
}

/*
 * Whose turn it is
 */

static bool is_running(const Round *round, const char *unit) {
        for (guint i = 0; i < round->running->len; i++)
                if (g_str_equal(((const Runner *) round->running->pdata[i])->check->unit, unit))
                        return true;
        return false;
}

static void add_waiting(Round *round) {
        g_auto(GStrv) units = check_timer_find_shared(round->span);

        for (char **unit = units; *unit; unit++)
                if (!is_running(round, *unit))
                        g_queue_push_tail(&round->waiting, g_strdup(*unit));
}

/* How long is it until it is to be checked? One that has just got here, or was checked by hand, was checked less than
 * an interval ago. A clock that was set says nothing. */
static gint64 find_delay(const Round *round, const Check *check) {
        const GPtrArray *log = check->record->log;
        const HealthResult *last = log->len > 0 ? log->pdata[log->len - 1] : NULL;
        g_autoptr(GDateTime) start = last ? g_date_time_new_from_iso8601(last->start, NULL) : NULL;
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        GTimeSpan ago = start ? g_date_time_difference(now, start) : -1;

        return ago < 0 || ago >= round->interval / 10 * 9 ? 0 : round->interval - ago;
}

/*
 * One after another is begun
 */

static void begin(Round *round, const char *unit) {
        g_autoptr(Check) check = check_new(unit);
        g_autoptr(GError) error = NULL;
        gint64 delay;
        Runner *runner;

        if (!check_open(check, /* wait= */ false, &error)) {
                if (error)
                        log_error("%s: %s", unit, error->message);
                return;
        }
        if (check_timer_turn(check) != CHECK_SHARED) /* it has just been started again */
                return;
        delay = find_delay(round, check);
        if (delay > 0) {
                round->next = MIN(round->next, g_get_monotonic_time() + delay);
                return;
        }
        check_begin(check);
        runner = g_new0(Runner, 1);
        runner->process = -1;
        runner->begun = g_get_monotonic_time();
        runner->check = g_steal_pointer(&check);
        g_ptr_array_add(round->running, runner);
}

/* How many keep a processor busy? *ret_until: when that is one less, if none ends before. */
static guint count_young(const Round *round, gint64 *ret_until) {
        gint64 now = g_get_monotonic_time();
        guint n = 0;

        *ret_until = G_MAXINT64;
        for (guint i = 0; i < round->running->len; i++) {
                const Runner *runner = round->running->pdata[i];

                if (runner->begun + YOUNG_USEC <= now)
                        continue;
                *ret_until = MIN(*ret_until, runner->begun + YOUNG_USEC);
                n++;
        }
        return n;
}

/* One that finds no descriptor would be taken for a sick container. What is above the limit for now waits until one
 * ends. */
static bool raise_limit(Round *round, GError **error) {
        struct rlimit most;

        if (getrlimit(RLIMIT_NOFILE, &most) < 0)
                return error_set_errno(error, errno, "Cannot ask for the limit of open files");
        most.rlim_cur = most.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &most) < 0)
                return error_set_errno(error, errno, "Cannot raise the limit of open files");
        round->max_running = 1;
        if (most.rlim_cur > SPARE_DESCRIPTORS + CHECK_DESCRIPTORS)
                round->max_running = (guint) MIN((most.rlim_cur - SPARE_DESCRIPTORS) / CHECK_DESCRIPTORS, G_MAXINT);
        return true;
}

/* Returns when the next one can be begun, if none ends before. */
static gint64 begin_some(Round *round) {
        gint64 until;

        while (!g_queue_is_empty(&round->waiting)) {
                g_autofree char *unit = NULL;

                if (round->running->len >= round->max_running)
                        return G_MAXINT64;
                if (count_young(round, &until) >= g_get_num_processors())
                        return until;
                unit = g_queue_pop_head(&round->waiting);
                begin(round, unit);
        }
        return G_MAXINT64;
}

/* Only as long as somebody is here all the same. */
static void take_turn(Round *round, gint64 now) {
        if (now < round->next)
                return;
        round->next = now + round->interval;
        if (g_queue_is_empty(&round->waiting))
                add_waiting(round);
}

/*
 * And ends
 */

static void follow(Check *check, guint consequences) {
        g_autoptr(GError) error = NULL;

        if (check_follow_is_needed(check, consequences) && !check_follow(check, CHECK_SHARED, consequences, &error) &&
            error)
                log_error("%s: %s", check->unit, error->message);
}

static bool write_down(Check *check, guint *ret_consequences) {
        g_autoptr(GError) error = NULL;
        bool done = check_end(check, ret_consequences, &error);

        if (error)
                log_error("%s: %s", check->unit, error->message);
        return done;
}

/* Those of others are locked as long as anybody has the descriptor that flock(2) was called for, and this process can
 * live as long as its own container wants. */
static void forget_others(const Round *round, const Runner *mine) {
        for (guint i = 0; i < round->running->len; i++)
                if (round->running->pdata[i] != mine)
                        runner_free(round->running->pdata[i]);
}

/* In a process of its own; from check_end() on where there are no consequences yet. */
static void finish_apart(const Round *round, Runner *runner, const guint *known) {
        pid_t caller = getpid();
        guint consequences;

        runner->follower = fork();
        if (runner->follower == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                forget_others(round, runner);
                if (getppid() == caller && (known || write_down(runner->check, &consequences)))
                        follow(runner->check, known ? *known : consequences);
                _exit(0);
        }
        if (runner->follower > 0)
                runner->process = (int) syscall(SYS_pidfd_open, runner->follower, 0);
        else
                log_error("%s: Cannot fork", runner->check->unit);
}

/* Returns whether nothing is left to be done. */
static bool end(const Round *round, Runner *runner) {
        Check *check = runner->check;
        guint consequences;

        if (runner->follower > 0) {
                (void) waitpid(runner->follower, NULL, 0);
                return true;
        }
        check_reap(check);
        if (check_end_can_wait(check))
                finish_apart(round, runner, NULL);
        else if (write_down(check, &consequences) && check_follow_is_needed(check, consequences))
                finish_apart(round, runner, &consequences);
        return runner->process < 0;
}

static gint64 prepare(const Runner *runner, struct pollfd polls[CHECK_POLLS]) {
        if (runner->follower <= 0)
                return check_prepare(runner->check, polls);
        for (size_t i = 0; i < CHECK_POLLS; i++)
                polls[i] = (struct pollfd) { .fd = i == 0 ? runner->process : -1, .events = POLLIN };
        return G_MAXINT64;
}

static bool advance(Runner *runner, const struct pollfd polls[CHECK_POLLS]) {
        return runner->follower > 0 ? polls[0].revents != 0 : check_advance(runner->check, polls);
}

static void await(Round *round, gint64 until) {
        guint n = round->running->len;
        g_autofree struct pollfd *polls = g_new0(struct pollfd, (gsize) n * CHECK_POLLS + 1);
        gint64 left;

        for (guint i = 0; i < n; i++)
                until = MIN(until, prepare(round->running->pdata[i], polls + (gsize) i * CHECK_POLLS));
        left = until - g_get_monotonic_time();
        if (poll(polls, n * CHECK_POLLS, (int) CLAMP(left / G_TIME_SPAN_MILLISECOND + 1, 0, G_MAXINT)) < 0)
                return;
        for (guint i = n; i-- > 0;) {
                Runner *runner = round->running->pdata[i];

                if (advance(runner, polls + (gsize) i * CHECK_POLLS) && end(round, runner))
                        g_ptr_array_remove_index_fast(round->running, i);
        }
}

bool check_round_command(const char *span, GError **error) {
        Round round = { .span = span, .waiting = G_QUEUE_INIT };
        guint64 usec;

        if (!health_interval_parse(span, &usec, error))
                return false;
        if (usec == 0 || usec > G_MAXINT64 / 4)
                return error_set(error, KT_ERROR_USAGE, "'%s' is no interval", span);
        round.interval = (gint64) usec;
        round.next = g_get_monotonic_time() + round.interval;
        round.running = g_ptr_array_new_with_free_func(runner_free);
        if (!enter_protect(error) || !raise_limit(&round, error))
                return false;
        add_waiting(&round);
        if (g_queue_is_empty(&round.waiting))
                return check_timer_end(span, error);
        do {
                gint64 until = begin_some(&round);

                if (round.running->len > 0)
                        await(&round, MIN(until, round.next));
                take_turn(&round, g_get_monotonic_time());
        } while (round.running->len > 0 || !g_queue_is_empty(&round.waiting));
        g_ptr_array_unref(round.running);
        return true;
}
