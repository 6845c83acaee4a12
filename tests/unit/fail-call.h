/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* From now on a system call of this process fails, with an errno of no more than 4095. `argument` is its first one,
 * as far as 32 bits go, which alone is to fail, or FAIL_ALL. False under user-mode emulation, of which meson tells by
 * a variable: there nothing can be tested. Anywhere else the test fails where that cannot be had. */
#define FAIL_ALL (-1)

static inline bool fail_call(long number, int argument, int errnum) {
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned) number, 0, 3),
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned) argument, 0, argument == FAIL_ALL ? 0 : 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) errnum),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
                return true;
        ck_assert_ptr_nonnull(getenv("MESON_EXE_WRAPPER"));
        return false;
}

/* fstat(2), which is another call in each C library. */
static inline bool fail_fstat(int errnum) {
#ifdef SYS_newfstatat
        (void) fail_call(SYS_newfstatat, FAIL_ALL, errnum);
#endif
#ifdef SYS_fstat
        (void) fail_call(SYS_fstat, FAIL_ALL, errnum);
#endif
        return fail_call(SYS_statx, FAIL_ALL, errnum);
}

/* access(2), the same. */
static inline bool fail_access(int errnum) {
#ifdef SYS_access
        (void) fail_call(SYS_access, FAIL_ALL, errnum);
#endif
        return fail_call(SYS_faccessat, FAIL_ALL, errnum);
}
