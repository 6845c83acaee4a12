/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libcrun/error.h>
#include <sys/types.h>

#include "libstart/runtime/runtime-container.h"

/* Write what `crun exec` and keyturnctl read, into STATE_ROOT/ID, which is there: config.json, the seccomp filter,
 * and libcrun's status file. Returns a negative value on errors, as libcrun's functions do. */
int runtime_state_write(const RuntimeContainer *container, pid_t payload, libcrun_error_t *err);

/* Only config.json, and only the status. */
bool runtime_state_describe(const RuntimeContainer *container, GError **error);
int runtime_state_adopt(const RuntimeContainer *container, pid_t process, libcrun_error_t *err);

/* Hooks that libcrun runs are run where its caller is: in the bundle, which they are told of by that, too. */
bool runtime_enter_bundle(const RuntimeContainer *container, GError **error);
