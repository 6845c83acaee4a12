/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* "SIGTERM", "term", "15", "RTMIN+3", "SIGRTMAX-1" -> the signal's number on this machine, never 0. */
bool signal_name_parse(const char *value, int *ret, GError **error);
