/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* What systemd has a container kept to by the kernel. Where the kernel cannot, systemd starts it all the same. */
typedef enum KernelControl {
        KERNEL_CONTROL_CPU = 1 << 0, /* controllers of cgroups */
        KERNEL_CONTROL_CPUSET = 1 << 1,
        KERNEL_CONTROL_MEMORY = 1 << 2,
        KERNEL_CONTROL_PIDS = 1 << 3,
        KERNEL_CONTROL_DEVICES = 1 << 4, /* DevicePolicy= is a BPF program of the cgroup */
        KERNEL_CONTROL_IO = 1 << 5,
} KernelControl;

/* What the kernel that runs does not have of these; bits of KernelControl. Without cgroup v2 nobody can tell, so no
 * controller counts as missing. In a user namespace nobody can make device nodes, so that nothing has to keep a
 * container from them. */
unsigned kernel_control_missing(bool is_users);

/* Notes what a setting of [Service] needs that stands for a key or an option of [Container]. */
void kernel_control_need(Conversion *container, const char *setting);

/* Problems for what the file asks for and the kernel does not have. */
void kernel_control_check(Conversion *container, unsigned missing);
