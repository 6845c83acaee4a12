/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Does this kernel let those who change mounts and namespaces wait for whole grace periods of RCU? One with
 * PREEMPT_RT does so after the boot, if not told otherwise (Documentation/admin-guide/kernel-parameters.txt,
 * rcupdate.rcu_normal_after_boot). A start has several such changes. */
bool slow_rcu_is_on(void);

#define SLOW_RCU_HINT                                                                                           \
        "This kernel lets every change of mounts and namespaces wait for RCU (/sys/kernel/rcu_normal is 1), "   \
        "which makes all starts slower; put rcupdate.rcu_normal_after_boot=0 on its command line: see SYSTEMS " \
        "in keyturn(7)"
