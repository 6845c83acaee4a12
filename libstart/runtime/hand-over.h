/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/runtime/runtime.h"
#include "libstart/systemd/systemd-notify.h"

/* What became of a payload that was to be handed over. */
typedef struct HandOver {
        pid_t payload;
        int exec_errno; /* 0, or why the payload could not be executed */
        bool exited;    /* it has ended already, and systemd may not have seen it: */
        int status;     /* of wait(2); the caller must end in the same way */
        bool told;      /* systemd has been sent MAINPID= */
} HandOver;

/* Starts the payload as a child of the calling process, and returns its pid when it was executed. *ret_exec_errno: 0,
 * or why it could not be; it ends then. -1: an error. */
typedef pid_t HandOverStart(const RuntimeContainer *container, int *ret_exec_errno, GError **error);

HandOverStart hand_over_start; /* by libcrun */

typedef struct HandOverCalls {
        /* Called in a process that shares this one's memory. */
        HandOverStart *start;
        /* The payload runs, and systemd has not been told. Where this fails the payload is killed. */
        bool (*started)(pid_t payload, void *data, GError **error);
        /* The payload has ended, and systemd does not know that before this returns: the payload's last messages can
         * be passed on. `payload`: 0 where systemd has not been sent its MAINPID=. */
        void (*ended)(pid_t payload, void *data);
        void *data;
} HandOverCalls;

/* Start a detached container and make its payload the main process of the systemd service that this process is the
 * main process of, as a child of PID 1, so that systemd learns its exit status at first hand.
 *
 * `state` is told to systemd beside MAINPID=: "READY=1\n", "STATUS=...\n" (what is waited for) or "". Nothing of ours
 * is left when the caller exits; until then the payload's id is not another's. */
bool hand_over(const RuntimeContainer *container, Notify *notify, const char *state, const HandOverCalls *calls,
               HandOver *ret, GError **error);

/* For a process of many threads, as another runtime's: while the last of them end, the first one is a zombie already,
 * which cannot be traced, nor be a main process of systemd's, and cannot be waited for yet. Waits for it then, and
 * notes its end. */
void hand_over_settle(HandOver *hand_over);

/* Whether a process that we trace, or a child of ours, has ended; it stays to be waited for. */
bool hand_over_has_ended(pid_t process);

/* End this process as the payload ended: the same exit status, or killed by the same signal. */
void hand_over_end_as(int status) G_GNUC_NORETURN;
