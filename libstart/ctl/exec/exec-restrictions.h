/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <sys/types.h>

#include "libstart/ctl/container/container-units.h"

/* What [Service] lays upon the processes that systemd starts, and so upon the payload, as filters: SystemCallFilter=,
 * Restrict...= and the like. Only systemd can make them, so `keyturnctl exec` has itself started by it, with the
 * same. */

/* As words for systemd-run(1), which drop-ins of systemd's are in, too. NULL with an error; empty where there are
 * none. */
GPtrArray *exec_restrictions_find(const ContainerUnit *container, GError **error);

/* Executes keyturnctl with these words under the restrictions; takes both. Returns only with an error. */
void exec_restrictions_run(GPtrArray *restrictions, GPtrArray *words, GError **error);

/* Sends this process SIGHUP when the caller's has ended, which is no relative of it then. */
void exec_restrictions_watch(pid_t caller);
