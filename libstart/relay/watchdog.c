/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/relay/watchdog.h"

/* Where systemd could not be told. */
#define RETRY_MSEC 1000

Watchdog watchdog_new(const char *address, const char *usec, const char *pid) {
        guint64 interval = 0, ours = 0;

        if (!address || !usec || !g_ascii_string_to_unsigned(usec, 10, 4, G_MAXINT64, &interval, NULL) ||
            (pid && (!g_ascii_string_to_unsigned(pid, 10, 1, G_MAXINT, &ours, NULL) || (pid_t) ours != getpid())))
                return (Watchdog) { 0 };
        return (Watchdog) { .address = address, .interval = (gint64) interval };
}

int watchdog_timeout(const Watchdog *watchdog, gint64 now) {
        gint64 left = watchdog->heard + watchdog->interval / 2 - now;

        if (!watchdog->address)
                return -1;
        if (left <= 0)
                return (int) MIN(RETRY_MSEC, watchdog->interval / 4 / G_TIME_SPAN_MILLISECOND);
        return (int) MIN(left / G_TIME_SPAN_MILLISECOND + 1, G_MAXINT);
}

void watchdog_tell(Watchdog *watchdog, gint64 now) {
        static const char message[] = "WATCHDOG=1";
        _cleanup_close_ int fd = -1;

        if (!watchdog->address || now - watchdog->heard < watchdog->interval / 4)
                return;
        fd = socket_connect(SOCK_DGRAM, watchdog->address, NULL);
        if (fd >= 0 && send(fd, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
                watchdog->heard = now;
}
