/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/runtime/hand-over.h"

/* What only a start can tell of what the runtime cannot do (request/runtime-rules.h has the rest).
 * is_systemd: the payload is an init, which has a control group to manage. */
bool program_check(const RuntimeContainer *container, bool is_systemd, GError **error);

/* Create the container and start it by the program that the request names (--runtime-program), as a child of the
 * calling process, whose mount namespace becomes another one. Returns the pid of its first process, when the payload
 * has been executed in it; of gVisor's sandbox, when the payload has begun in that: it ends as the payload does. -1
 * where it cannot be started, and then nothing is left running. */
HandOverStart program_start;

/* The same for who waits for it: forwards signals, SIGTERM as `stop_signal`, and returns its exit status, 128 + N for
 * one killed by signal N; -1 on errors. */
int program_run(const RuntimeContainer *container, int stop_signal, GError **error);
