/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/userns/userns-maker.h"

uid_t userns_maker_find(const char *unit) {
        return USERNS_MAKER_FIRST + g_str_hash(unit) % USERNS_MAKERS;
}

/* As files and control groups see it, this process stays root. With another effective id the kernel takes the signal
 * away that comes when the parent ends, and hides the process no more (userns_hide_process()). */
static bool change_user(uid_t user) {
        int death_signal;

        return prctl(PR_GET_PDEATHSIG, &death_signal) == 0 && setresuid((uid_t) -1, user, (uid_t) -1) == 0 &&
               setfsuid(0) >= 0 && prctl(PR_SET_PDEATHSIG, death_signal) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0;
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
        if (!change_user(maker))
                return errno == EINVAL || /* a machine in a user namespace, which has few ids: it is root's there */
                       error_set_errno(error, errno, "Cannot make a user namespace as the user %u", maker);
        if (syscall(SYS_capset, &header, own) == 0)
                return true;
        error_set_errno(error, errno, "Cannot keep the capabilities while a user namespace is made");
        userns_maker_leave(maker);
        return false;
}

void userns_maker_leave(uid_t maker) {
        if (maker != 0 && !change_user(0))
                abort(); /* the saved id is root's */
}
