/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* "SIGTERM", "term", "15", "RTMIN+3", "SIGRTMAX-1" -> the signal's number on this machine, never 0. */
bool signal_name_parse(const char *value, int *ret, GError **error);

/* A signal's number as systemd reads it: "SIGTERM", "SIGRTMIN+3"; "32" where there is no name. Transfer full. */
char *signal_name_print(int number);
