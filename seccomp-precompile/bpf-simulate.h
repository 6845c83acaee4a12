/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* What the kernel would make of a filter of libseccomp's, which has few of the instructions that seccomp(2) takes.
 * Returns false for a program with others, or that leaves its own bounds, else sets *ret_action to what it
 * returns. */
bool bpf_simulate(const struct sock_filter *program, size_t length, const struct seccomp_data *data,
                  guint32 *ret_action);
