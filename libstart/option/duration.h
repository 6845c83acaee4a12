/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Microseconds, as podman's options have a time: numbers, which may have a fraction, each with ns, us, ms, s, m or h
 * ("1m30s"); or "0". */
bool duration_parse(const char *value, guint64 *ret_usec, GError **error);
