/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/relay/watch.h"

bool watch(int epoll, int operation, int fd, uint32_t events, uint64_t about, GError **error) {
        struct epoll_event event = { .events = events, .data.u64 = about };

        if (epoll_ctl(epoll, operation, fd, &event) < 0)
                return error_set_errno(error, errno, "Cannot watch a descriptor");
        return true;
}

void unwatch(int epoll, int fd) {
        if (fd >= 0)
                (void) epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

bool watch_is_reaped(int pidfd) {
        return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0 && errno == ESRCH;
}
