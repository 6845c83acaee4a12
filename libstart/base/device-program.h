/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

/* Hands the kernel a program that says which devices the processes of a cgroup may use. `name`: as bpftool lists it,
 * 15 characters at most, or "". Returns a close-on-exec descriptor of it, or -1 and errno. */
int device_program_load(const struct bpf_insn *instructions, size_t n_instructions, const char *name);
