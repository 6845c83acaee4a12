/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/keyring.h"

bool keyring_join_new(GError **error) {
        return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
               error_set_errno(error, errno, "Cannot make a session keyring");
}
