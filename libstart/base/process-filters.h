/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* How many filters are upon this process that it will never get rid of, nor what it executes: those of seccomp(2),
 * and the one of PR_SET_MDWE, which systemd uses for MemoryDenyWriteExecute= instead where there is it. */
bool process_filters_count(guint *ret, GError **error);
