/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <linux/filter.h>
#include <stddef.h>

/* One line an instruction, with the names of system calls and actions beside their numbers. Transfer
 * full. */
char *bpf_disassemble(const struct sock_filter *program, size_t length);
