/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* The kernel's own rules: jumps stay inside, and whatever is run ends with a verdict. Pure. */
bool seccomp_is_well_formed(const struct sock_filter *program, size_t length);

/* The same verdicts in fewer instructions: a quarter of libseccomp's for the default profile. The kernel translates
 * and tries a filter whenever one is installed, which takes a third of the time then: 0.1 ms instead of 0.3 ms in
 * each start.
 *
 * Returns struct sock_filter[]; NULL if the program does something that is not understood here, or would not become
 * shorter. Pure. The same input gives the same bytes. Transfer full. */
GBytes *seccomp_compact(const struct sock_filter *program, size_t length);
