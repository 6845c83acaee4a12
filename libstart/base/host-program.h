/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Runs a program of the host's, waits for it, and says how it ended. What it prints as its result is dropped. What it
 * says on standard error is in the error, in one line, or goes where ours does where it succeeds. The error begins
 * with `what`, or with the program's path where that is NULL. */
bool host_program_run(const char *const *words, const char *what, GError **error);
