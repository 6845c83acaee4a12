/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/relay/pipe-workers.h"
#include "libstart/relay/watch.h"

#define PATIENCE_USEC (50 * G_TIME_SPAN_MILLISECOND)
#define BATCH_MAX 24U

/* One that ends before it has done a job (it was killed, say) is replaced at once, the next ones in this distance.
 * After so many in a row it is for the next relay: what fails may lie in this one. */
#define FAILED_PAUSE_USEC (100 * G_TIME_SPAN_MILLISECOND)
#define FAILED_MAX 10

/* How long the process of the slow lane stays when there is nothing to do in it. */
#define SLOW_LANE_MSEC 2000

/* The number of a job that no batch has. */
#define GIVEN_UP 1000U

/* What the relay and the worker both see. */
typedef struct Shared {
        atomic_uint next;    /* the job to be begun next */
        atomic_uint batches; /* how many are done */
        guint n_jobs;
        PipeJob jobs[BATCH_MAX];
} Shared;

typedef struct Worker {
        pid_t pid; /* 0: no process yet */
        int pidfd;
        int wake; /* an eventfd: there is a batch */
        Shared *shared;
        guint batches;  /* that it was given */
        bool works;     /* on one of them */
        bool woken;     /* for that one */
        bool delayed;   /* its process is not to be started yet */
        guint n_jobs;   /* in that, or in the one that is being put together */
        guint seen;     /* `next`, at the last look */
        gint64 look_at; /* when to look again; monotonic */
        struct {
                const char *account;
                void *owner; /* NULL: the job is over */
        } orders[BATCH_MAX];
} Worker;

struct PipeWorkers {
        int epoll;
        int done; /* an eventfd: some batch is done */
        Worker *lanes[PIPE_LANES];
        GPtrArray *given_up;
        guint n_failed;  /* workers in a row */
        gint64 start_at; /* not before that; monotonic */
        PipeJobOver over;
        void *data;
};

/*
 * The process
 */

static void do_batch(Shared *shared, Pump *pump) {
        for (guint i; (i = atomic_fetch_add(&shared->next, 1)) < shared->n_jobs;)
                pipe_job_run(&shared->jobs[i], pump);
}

/* Returns false when there was no batch for `timeout` milliseconds (-1: for ever). */
static bool wait_for_batch(int wake, int timeout) {
        struct pollfd readable = { .fd = wake, .events = POLLIN };
        uint64_t n;

        if (timeout >= 0 && poll(&readable, 1, timeout) <= 0)
                return false;
        while (read(wake, &n, sizeof n) < 0)
                if (errno != EINTR)
                        return false;
        return true;
}

static void run_worker(int wake, int timeout, Shared *shared, int done) {
        const uint64_t one = 1;
        Pump pump;

        pump_open(&pump);
        while (wait_for_batch(wake, timeout)) {
                do_batch(shared, &pump);
                if (atomic_load(&shared->next) > GIVEN_UP)
                        break;
                atomic_fetch_add(&shared->batches, 1);
                (void) !write(done, &one, sizeof one);
        }
        pump_clear(&pump); /* descriptors of the relay's */
}

/* It does not outlive the relay: the next one has workers of its own. */
static pid_t fork_worker(Worker *worker, int timeout, int done) {
        struct clone_args args = {
                .flags = CLONE_FILES | CLONE_PIDFD,
                .pidfd = (uintptr_t) &worker->pidfd,
        };
        pid_t relay = getpid();
        long pid = syscall(SYS_clone3, &args, sizeof args);

        if (pid == 0) {
                if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == relay)
                        run_worker(worker->wake, timeout, worker->shared, done);
                _exit(0);
        }
        return (pid_t) pid;
}

/* What it leaves behind on errors, forget_process() clears. */
static bool start_process(const PipeWorkers *workers, PipeLane lane, GError **error) {
        Worker *worker = workers->lanes[lane];
        int timeout = lane == PIPE_LANE_QUICK ? -1 : SLOW_LANE_MSEC;
        pid_t pid;

        worker->wake = eventfd(0, EFD_CLOEXEC);
        pid = worker->wake >= 0 ? fork_worker(worker, timeout, workers->done) : -1;
        if (pid < 0) {
                error_set_errno(error, errno, "Cannot start a worker");
                fd_closep(&worker->wake);
                return false;
        }
        worker->pid = pid;
        return watch(workers->epoll, EPOLL_CTL_ADD, worker->pidfd, EPOLLIN, (uintptr_t) worker | ABOUT_WORKER, error);
}

/* It has ended, or is to end. */
static void forget_process(Worker *worker) {
        if (worker->pid == 0)
                return;
        kill(worker->pid, SIGKILL);
        (void) waitpid(worker->pid, NULL, __WALL | WNOHANG);
        worker->pid = 0;
        close(fd_steal(&worker->pidfd));
        close(fd_steal(&worker->wake)); /* it may not have been read */
}

/*
 * Its batch
 */

static Worker *worker_new(void) {
        Worker *worker = g_new0(Worker, 1);

        worker->pidfd = worker->wake = -1;
        worker->shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        g_assert(worker->shared != MAP_FAILED);
        return worker;
}

static void worker_free(Worker *worker) {
        forget_process(worker);
        munmap(worker->shared, sizeof(Shared));
        g_free(worker);
}

static void end_job(PipeWorkers *workers, Worker *worker, guint i) {
        void *owner = worker->orders[i].owner;
        const PipeJob *job = &worker->shared->jobs[i];
        bool done = atomic_load(&job->done);

        if (!owner)
                return;
        worker->orders[i].owner = NULL;
        if (done)
                workers->n_failed = 0;
        workers->over(job, done, owner, workers->data);
}

static void end_batch(PipeWorkers *workers, Worker *worker) {
        for (guint i = 0; i < worker->n_jobs; i++)
                end_job(workers, worker, i);
        worker->n_jobs = 0;
        worker->works = false;
}

/* Once: it would take another one for another batch. */
static void wake(Worker *worker) {
        const uint64_t one = 1;

        worker->woken = worker->woken || write(worker->wake, &one, sizeof one) == sizeof one;
}

static void begin_batch(Worker *worker) {
        worker->shared->n_jobs = worker->n_jobs;
        atomic_store(&worker->shared->next, 0);
        worker->works = true;
        worker->batches = atomic_load(&worker->shared->batches) + 1;
        worker->seen = 0;
        worker->look_at = g_get_monotonic_time() + PATIENCE_USEC;
        worker->woken = false;
        wake(worker);
}

/* Unless it goes on just now. Its process ends after the job that it is at. */
static void give_up(PipeWorkers *workers, PipeLane lane) {
        Worker *worker = workers->lanes[lane];
        guint next = worker->seen;

        if (!atomic_compare_exchange_strong(&worker->shared->next, &next, GIVEN_UP))
                return;
        workers->lanes[lane] = worker_new();
        g_ptr_array_add(workers->given_up, worker);
        for (guint i = 0; i < worker->n_jobs; i++)
                if (i + 1 != next)
                        end_job(workers, worker, i);
}

static bool is_done(const Worker *worker) {
        return worker->works && atomic_load(&worker->shared->batches) == worker->batches;
}

static void check_lane(PipeWorkers *workers, PipeLane lane) {
        Worker *worker = workers->lanes[lane];
        guint next;

        if (!worker->works || g_get_monotonic_time() < worker->look_at)
                return;
        next = atomic_load(&worker->shared->next);
        /* Where it has not begun, or is done and did not say so yet, it waits for a processor, or a call has failed
         * that was to tell. */
        if (is_done(worker))
                end_batch(workers, worker);
        else if (next == 0)
                wake(worker);
        else if (next <= worker->n_jobs && next == worker->seen)
                give_up(workers, lane);
        worker->seen = next;
        worker->look_at = g_get_monotonic_time() + PATIENCE_USEC;
}

static bool has_account(const Worker *worker, const char *account) {
        for (guint i = 0; i < worker->n_jobs; i++)
                if (worker->orders[i].owner && strcmp(worker->orders[i].account, account) == 0)
                        return true;
        return false;
}

static bool is_held(const PipeWorkers *workers, PipeLane lane, const char *account) {
        for (guint i = 0; i < PIPE_LANES; i++)
                if (i != (guint) lane && has_account(workers->lanes[i], account))
                        return true;
        for (guint i = 0; i < workers->given_up->len; i++)
                if (has_account(workers->given_up->pdata[i], account))
                        return true;
        return false;
}

/*
 * All
 */

PipeWorkers *pipe_workers_new(int epoll, PipeJobOver over, void *data, GError **error) {
        g_autoptr(PipeWorkers) workers = g_new0(PipeWorkers, 1);

        workers->epoll = epoll;
        workers->over = over;
        workers->data = data;
        workers->given_up = g_ptr_array_new_with_free_func((GDestroyNotify) worker_free);
        for (guint i = 0; i < PIPE_LANES; i++)
                workers->lanes[i] = worker_new();
        workers->done = eventfd(0, EFD_CLOEXEC);
        if (workers->done < 0)
                return error_null_errno(error, errno, "Cannot hear from workers");
        return watch(epoll, EPOLL_CTL_ADD, workers->done, EPOLLIN | EPOLLET, ABOUT_WORKER, error) ?
                       g_steal_pointer(&workers) :
                       NULL;
}

void pipe_workers_free(PipeWorkers *workers) {
        if (!workers)
                return;
        for (guint i = 0; i < PIPE_LANES; i++) {
                end_batch(workers, workers->lanes[i]);
                worker_free(workers->lanes[i]);
        }
        g_ptr_array_unref(workers->given_up);
        fd_closep(&workers->done);
        g_free(workers);
}

bool pipe_workers_can_add(const PipeWorkers *workers, PipeLane lane, const char *account) {
        const Worker *worker = workers->lanes[lane];

        return !worker->works && worker->n_jobs < BATCH_MAX && !is_held(workers, lane, account);
}

void pipe_workers_add(PipeWorkers *workers, PipeLane lane, const PipeJob *job, const char *account, void *owner) {
        Worker *worker = workers->lanes[lane];
        guint i = worker->n_jobs++;

        worker->shared->jobs[i] = *job;
        worker->orders[i].account = account;
        worker->orders[i].owner = owner;
}

bool pipe_workers_start(PipeWorkers *workers, GError **error) {
        for (guint i = 0; i < PIPE_LANES; i++) {
                Worker *worker = workers->lanes[i];

                worker->delayed = worker->pid == 0 && g_get_monotonic_time() < workers->start_at;
                if (worker->works || worker->n_jobs == 0 || worker->delayed)
                        continue;
                if (worker->pid == 0 && !start_process(workers, i, error)) {
                        forget_process(worker);
                        end_batch(workers, worker);
                        return false;
                }
                begin_batch(worker);
        }
        return true;
}

static void end_worker(PipeWorkers *workers, Worker *worker) {
        if (worker->works && workers->n_failed++ > 0)
                workers->start_at = g_get_monotonic_time() + FAILED_PAUSE_USEC;
        forget_process(worker);
        end_batch(workers, worker);
        (void) g_ptr_array_remove_fast(workers->given_up, worker);
}

void pipe_workers_event(PipeWorkers *workers, const struct epoll_event *event) {
        Worker *worker = (Worker *) (uintptr_t) (event->data.u64 & ~ABOUT_WORKER);

        if (worker) {
                end_worker(workers, worker);
                return;
        }
        for (guint i = 0; i < PIPE_LANES; i++) {
                worker = workers->lanes[i];
                if (is_done(worker))
                        end_batch(workers, worker);
        }
}

void pipe_workers_check(PipeWorkers *workers) {
        for (guint i = 0; i < PIPE_LANES; i++)
                check_lane(workers, i);
}

bool pipe_workers_can_go_on(const PipeWorkers *workers, GError **error) {
        return workers->n_failed < FAILED_MAX ||
               error_set(
                       error, KT_ERROR_FAILED,
                       "Cannot move the output of containers: worker after worker ends before it has moved anything");
}

int pipe_workers_wait_time(const PipeWorkers *workers, int timeout) {
        for (guint i = 0; i < PIPE_LANES; i++) {
                const Worker *worker = workers->lanes[i];

                if (worker->works || (worker->delayed && worker->n_jobs > 0)) {
                        gint64 at = worker->works ? worker->look_at : workers->start_at;
                        gint64 left = at - g_get_monotonic_time();
                        int msec = (int) (MAX(left, 0) / G_TIME_SPAN_MILLISECOND) + 1;

                        timeout = timeout < 0 ? msec : MIN(timeout, msec);
                }
        }
        return timeout;
}
