/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/oci/user.h"
#include "libstart/relay-client/relay-client.h"
#include "libstart/request/request.h"
#include "libstart/service/output-copier.h"

/* Where the payload's standard output and error go (--log-driver).
 *
 * The threat: root in a container may change the mode and owner of whatever it has a descriptor of, and open that
 * again through /proc/self/fd for writing. So of what systemd or a caller has opened for libstart in the host's file
 * system, files and terminals, it gets none: always a pipe of its own, whose other end the relay writes there, or in
 * the foreground a process of libstart's. */
typedef struct PayloadLog {
        RelayPipes pipes;
        OutputCopier copier;
        int streams[2]; /* what systemd gave as standard output and error, while the payload's are in their place */
        int file;       /* where its output goes instead; -1: there */
} PayloadLog;

#define PAYLOAD_LOG_NULL \
        { .pipes = RELAY_PIPES_NULL, .copier = OUTPUT_COPIER_NULL, .streams = { -1, -1 }, .file = -1 }

/* Put the payload's standard output and error in place. Our own messages keep going where they went. */
bool payload_log_open(PayloadLog *log, const ContainerRequest *request, const UserIdentity *user, GError **error);

/* Hand the pipes to the relay. `pid` is the payload's, or ours if we live as long as it; `unit` names the service.
 * After a failure nobody reads the payload's output, and it must not go on running. */
bool payload_log_started(PayloadLog *log, const ContainerRequest *request, const UserIdentity *user, const char *unit,
                         pid_t pid, GError **error);

/* In the foreground, returns when all the payload said is written. */
void payload_log_close(PayloadLog *log);
