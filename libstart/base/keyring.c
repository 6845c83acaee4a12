/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/keyring.h"

/* The next program that is executed makes keys with its own label again. */
static bool set_label(const char *label, GError **error) {
        _cleanup_close_ int fd = open("/proc/thread-self/attr/keycreate", O_WRONLY | O_CLOEXEC);

        return (fd >= 0 && write(fd, label, strlen(label)) >= 0) ||
               error_set_errno(error, errno, "Cannot label the session keyring as '%s'", label);
}

bool keyring_join_new(const char *label, GError **error) {
        if (label && !set_label(label, error))
                return false;
        return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
               error_set_errno(error, errno, "Cannot make a session keyring%s", errno == EDQUOT ? ERROR_USED_UP : "");
}
