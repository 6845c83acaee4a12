/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/runtime/runtime-container.h"

/* The same as stop-unit.h for a payload in the foreground (Type=oneshot): systemd's SIGTERM comes to libstart, and
 * not to the payload. libcrun, which waits for that, would pass it on as it is. So this process forks: the child goes
 * on with the start and waits for the payload; the parent, the service's main process, waits for the child, hands
 * signals on, and sends the payload its own in the place of SIGTERM. Only where an image wants that.
 *
 * report: the child's alone from here on. Returns true in the child; false in the parent, when that has ended, with
 * its status, 128 + N for signal N, or an error. */
bool stop_guard_fork(const RuntimeContainer *container, int signal, int *ret_status, GError **error);
