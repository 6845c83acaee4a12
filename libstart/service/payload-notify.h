/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/systemd/systemd-notify.h"

/* The socket that a payload with --sdnotify=container notifies. It is the container's own, never systemd's: the relay
 * reads it, and tells systemd what a payload may say (libstart/relay-client/notify-filter.c). It is bound before the
 * payload runs, so a message finds it, and waits in its queue until the relay knows of it. */
typedef struct PayloadNotify {
        int socket; /* -1: the payload has none */
        int relay;  /* a connection to the relay */
} PayloadNotify;

#define PAYLOAD_NOTIFY_NULL { -1, -1 }

/* Where it is bound, for a container whose private directory this is. Transfer full. */
char *payload_notify_path(const char *private_directory);

/* Bind it, open to every user who reaches it: on the host only root, through the private directory. Fails without the
 * relay, for nobody else would read it. label: SELinux's, with which the payload may write to it; NULL: none. */
bool payload_notify_open(PayloadNotify *notify, const char *private_directory, const char *label, GError **error);

/* Hand it to the relay, which serves it until `main_process` ends. systemd must have been told MAINPID= before, or it
 * would not know in whose name the relay speaks. Waits, a tenth of a second at most, for the relay to have taken it.
 * A process that is gone is fine, as long as its id is not given to another. After a failure nobody reads it, and the
 * payload must not go on running. */
bool payload_notify_hand_over(PayloadNotify *notify, const char *unit, pid_t main_process, GError **error);

/* The payload, which has one, has ended before that: pass on what it has said. `payload`: 0 while we are the main
 * process of the service. Else systemd has been sent MAINPID=, and takes that if it was fast enough to find a process
 * that runs: so all is said in both names, and systemd hears that of its main process. */
void payload_notify_drain(const PayloadNotify *notify, Notify *systemd, pid_t payload);

void payload_notify_close(PayloadNotify *notify);
