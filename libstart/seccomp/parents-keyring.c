/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "libstart/seccomp/parents-keyring.h"

/* Of the operation the kernel takes 32 bits. The number of the call comes first: for all others the kernel remembers
 * that they are allowed, which it does not where a filter looks at an argument. */
#define OPERATION (offsetof(struct seccomp_data, args) + (G_BYTE_ORDER == G_BIG_ENDIAN ? sizeof(guint32) : 0))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define IF(value, length) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (length))
#define FORBID(keyctl, architecture)                                                                       \
        LOAD(offsetof(struct seccomp_data, nr)), IF(keyctl, 5), LOAD(offsetof(struct seccomp_data, arch)), \
                IF(architecture, 3), LOAD(OPERATION), IF(KEYCTL_SESSION_TO_PARENT, 1),                     \
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

#define X32_BIT 0x40000000

/* Those that a process of the machine's can call by. */
static const struct sock_filter first[] = {
#ifdef __x86_64__
        FORBID(250, AUDIT_ARCH_X86_64),
        FORBID(250 | X32_BIT, AUDIT_ARCH_X86_64),
        FORBID(288, AUDIT_ARCH_I386),
#elif defined __aarch64__ || defined __arm__ || defined __riscv
        FORBID(219, AUDIT_ARCH_AARCH64),
        FORBID(219, AUDIT_ARCH_RISCV64),
        FORBID(311, AUDIT_ARCH_ARM),
#elif defined __i386__
        FORBID(__NR_keyctl, AUDIT_ARCH_I386),
#elif defined __s390x__
        FORBID(__NR_keyctl, AUDIT_ARCH_S390X),
#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__
        FORBID(__NR_keyctl, AUDIT_ARCH_PPC64LE),
#else
# error "Say here what number keyctl(2) has on this architecture"
#endif
};

GBytes *seccomp_keep_parents_keyring(GBytes *filter) {
        gsize size;
        const void *data = g_bytes_get_data(filter, &size);
        char *whole = g_malloc(sizeof first + size);

        memcpy(whole, first, sizeof first);
        memcpy(whole + sizeof first, data, size);
        return g_bytes_new_take(whole, sizeof first + size);
}
