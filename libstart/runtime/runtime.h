/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/runtime/runtime-container.h"

/* libcrun, behind a narrow door: only runtime*.c include its headers. */

/* Create the container and execute the payload in it.
 *
 * detach: returns the payload's pid, as seen from here, when the payload is about to be executed. It is a child of
 * the calling process. Otherwise: forwards signals to the payload, waits for it, and returns its exit status, 128 + N
 * for one killed by signal N. -1 on errors, and then nothing is left running. */
int runtime_run(const RuntimeContainer *container, GError **error);

/* For who runs it in another way: what is written of the container before that, and as soon as its first process is
 * there. So the functions below know of it, and other programs do. */
bool runtime_describe(const RuntimeContainer *container, GError **error);
bool runtime_adopt(const RuntimeContainer *container, pid_t process, GError **error);

/* Send the payload in STATE_ROOT/ID a signal; false: there is none, or not yet. */
bool runtime_kill(const char *state_root, const char *id, int signal);

/* Does a process live that the state in STATE_ROOT/ID tells of? One whose number another process has got since does
 * not. */
bool runtime_is_running(const char *state_root, const char *id);
