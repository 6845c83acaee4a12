/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Bytes, as podman's --shm-size has them: a number, which may have a fraction, and b, k, m, g, t or p
 * (also kb, kib), each 1024 times the one before it. */
bool size_parse(const char *value, guint64 *ret_bytes, GError **error);
