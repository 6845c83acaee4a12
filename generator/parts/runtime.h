/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* Another OCI runtime: [Keyturn] Runtime=, and --runtime of PodmanArgs= and GlobalArgs=. */

KeyHandler handle_runtime;
bool runtime_apply(Conversion *container, const char *value, GError **error);

/* What its service needs then: ExecStopPost= removes what the runtime has kept, gVisor's exit statuses are
 * understood, and runc has a control group to manage. */
void runtime_service(Conversion *container);
