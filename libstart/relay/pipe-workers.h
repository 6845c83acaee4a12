/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "libstart/relay/pipe-job.h"

/* The processes that do what may have to wait for the lock of a payload's pipe, while the relay waits for nothing.
 *
 * A worker gets a batch of jobs. One that stays with the same job for 50 ms is given up: what it has not begun is given
 * back, another worker takes its place, and it ends as soon as it is done with that job. Of the same account (a unit) no
 * other job is begun meanwhile. So there are never more workers than lanes and accounts that are held, however many pipes
 * one has, and the others go on.
 *
 * There are two lanes, each with one worker at a time. In one are those who were slow of late: nobody else waits for them
 * even these 50 ms.
 *
 * A worker is a process, because a thread that waits in the kernel would keep the whole relay from ending. It has the
 * relay's table of descriptors, a copy of its memory, and one page of both for the jobs. It makes system calls only, and
 * is killed when the relay ends; systemd does not wait for it (KillMode=process). */
typedef struct PipeWorkers PipeWorkers;

typedef enum PipeLane {
        PIPE_LANE_QUICK,
        PIPE_LANE_SLOW,
        PIPE_LANES,
} PipeLane;

/* `done`: the worker has done it, and `job` is as it has left it; else it is to be ordered again. */
typedef void (*PipeJobOver)(const PipeJob *job, bool done, void *owner, void *data);

/* `epoll`: where the workers' events are waited for. */
PipeWorkers *pipe_workers_new(int epoll, PipeJobOver over, void *data, GError **error);
/* Ends the workers. */
void pipe_workers_free(PipeWorkers *workers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PipeWorkers, pipe_workers_free)

/* Put a job into the lane's next batch; `account` and `owner` are kept until it is over. Only when pipe_workers_can_add(),
 * which says no while the lane works, its batch is full, or the account is held elsewhere. After an event it may be
 * otherwise. */
bool pipe_workers_can_add(const PipeWorkers *workers, PipeLane lane, const char *account);
void pipe_workers_add(PipeWorkers *workers, PipeLane lane, const PipeJob *job, const char *account, void *owner);
/* Give the batches to the workers. Returns false if one cannot be started; its jobs are over, and not done. */
bool pipe_workers_start(PipeWorkers *workers, GError **error);

/* Events of ours have these bits in their data, beside a pointer. */
#define ABOUT_WORKER ((uintptr_t) 3)
void pipe_workers_event(PipeWorkers *workers, const struct epoll_event *event);

/* Give up who has to be given up. */
void pipe_workers_check(PipeWorkers *workers);
/* When that is to be called next, at most in `timeout` milliseconds (-1: for ever). */
int pipe_workers_wait_time(const PipeWorkers *workers, int timeout);
