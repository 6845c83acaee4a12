/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Runs a program of the host's and waits for it. */
bool program_run(const char *const *words, GError **error);
