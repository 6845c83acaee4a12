/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A span of time as podman's options have it, which is what Go's time.ParseDuration() reads: "1m30s", "1.5h",
 * "500ms", and "0", which needs no unit. *ret_usec: in microseconds, rounded up. A negative one is an error: no
 * option means anything by it. */
bool go_duration_parse(const char *text, guint64 *ret_usec, GError **error);
