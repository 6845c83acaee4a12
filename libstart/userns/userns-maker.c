/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/userns/userns-maker.h"

uid_t userns_maker_find(const char *unit) {
        return USERNS_MAKER_FIRST + g_str_hash(unit) % USERNS_MAKERS;
}

/* The real id stays root's: of any other the new namespace would have the limit of processes (RLIMIT_NPROC). With the
 * effective id the kernel takes the effective capabilities, without which some kernels let nobody make a namespace
 * (Debian's sysctl kernel.unprivileged_userns_clone, Ubuntu's AppArmor). */
bool userns_maker_become(uid_t maker, GError **error) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];

        if (maker == 0)
                return true;
        if (syscall(SYS_capget, &header, own) < 0)
                return error_set_errno(error, errno, "Cannot read this process's capabilities");
        if (setresuid((uid_t) -1, maker, (uid_t) -1) < 0)
                return errno == EINVAL || /* a machine in a user namespace, which has few ids: it is root's there */
                       error_set_errno(error, errno, "Cannot make a user namespace as the user %u", maker);
        if (syscall(SYS_capset, &header, own) == 0)
                return true;
        error_set_errno(error, errno, "Cannot keep the capabilities while a user namespace is made");
        userns_maker_leave(maker);
        return false;
}

void userns_maker_leave(uid_t maker) {
        if (maker != 0 && setresuid((uid_t) -1, 0, (uid_t) -1) < 0)
                abort(); /* the saved id is root's */
}
