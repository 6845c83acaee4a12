/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "libstart/relay/pipe-job.h"

/* The processes that may have to wait for the lock of a payload's pipe, so that the relay never does.
 *
 * A worker gets a batch of jobs. The relay looks at it every 50 ms. If it is still at the same job, it is given up:
 * it ends as soon as it is done with that job, the jobs that it has not begun are given back, and another worker
 * takes its place. Meanwhile no other job of the same account (a unit) is begun. So one account holds at most one
 * worker, however many pipes it has, and there are never more workers than lanes and held accounts together.
 *
 * There are two lanes, each with one worker at a time. The slow one is for those who were slow lately, so that the
 * others do not wait for them again and again, if only for 50 ms.
 *
 * A worker is a process, because a thread that waits in the kernel would keep the whole relay from ending. It shares
 * the relay's descriptors and one page of memory for the jobs. All other memory is a copy, so it does little but
 * system calls. It is killed when the relay ends. systemd does not wait for it (KillMode=process). */
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

/* Put a job into the lane's next batch; `account` and `owner` are kept until it is over. Only when
 * pipe_workers_can_add(), which says no while the lane works, its batch is full, or the account is held elsewhere.
 * After an event it may be otherwise. */
bool pipe_workers_can_add(const PipeWorkers *workers, PipeLane lane, const char *account);
void pipe_workers_add(PipeWorkers *workers, PipeLane lane, const PipeJob *job, const char *account, void *owner);
/* Give the batches to the workers. Returns false if one cannot be started; its jobs are over, and not done. */
bool pipe_workers_start(PipeWorkers *workers, GError **error);

/* Events of ours have these bits in their data, beside a pointer. */
#define ABOUT_WORKER ((uintptr_t) 3)
void pipe_workers_event(PipeWorkers *workers, const struct epoll_event *event);

/* Give up who has to be given up. */
void pipe_workers_check(PipeWorkers *workers);
/* False with an error where one after the other ends before it has done anything: another relay is to try it. */
bool pipe_workers_can_go_on(const PipeWorkers *workers, GError **error);
/* When that is to be called next, at most in `timeout` milliseconds (-1: for ever). */
int pipe_workers_wait_time(const PipeWorkers *workers, int timeout);
