/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/device-program.h"

/* Where a signal is pending, or a freezer wants the process to stop, the kernel gives up its check of a program with
 * EAGAIN. libbpf, too, asks five times. */
#define ATTEMPTS 5

int device_program_load(const struct bpf_insn *instructions, size_t n_instructions, const char *name) {
        union bpf_attr attr = {
                .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                .insns = (uint64_t) (uintptr_t) instructions,
                .insn_cnt = (uint32_t) n_instructions,
                .license = (uint64_t) (uintptr_t) "GPL",
        };
        int fd, attempts = 0;

        strncpy(attr.prog_name, name, sizeof attr.prog_name - 1);
        do
                fd = (int) syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
        while (fd < 0 && errno == EAGAIN && ++attempts < ATTEMPTS);
        return fd;
}
