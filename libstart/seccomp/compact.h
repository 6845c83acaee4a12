/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <linux/filter.h>
#include <stddef.h>

/* The same verdicts in fewer instructions: libseccomp compares with each system call's number, and most neighbours have
 * the same verdict. The kernel translates a filter whenever one is installed, which was a tenth of a container's start.
 *
 * Returns struct sock_filter[]; NULL if the program does something that is not understood here, or would not become
 * shorter. Pure. The same input gives the same bytes. */
GBytes *seccomp_compact(const struct sock_filter *program, size_t length);
