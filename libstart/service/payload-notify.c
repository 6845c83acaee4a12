/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/relay-client/notify-filter.h"
#include "libstart/relay-client/record.h"
#include "libstart/relay-client/relay-client.h"
#include "libstart/runtime/hand-over.h"
#include "libstart/service/payload-notify.h"

#define NAME "notify"
#define AWAIT_MSEC 100

char *payload_notify_path(const char *private_directory) {
        return g_build_filename(private_directory, NAME, NULL);
}

/* Through the directory's descriptor: its path, with the name of the service in it, may be longer than the name of a
 * socket. The umask is 0 while a container is prepared. */
static bool bind_in(int socket, const char *directory, const char *label, GError **error) {
        _cleanup_close_ int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct sockaddr_un name = { .sun_family = AF_UNIX };

        snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d/" NAME, fd);
        if (fd < 0 || bind(socket, (struct sockaddr *) &name, sizeof name) < 0)
                return error_set_errno(error, errno, "Cannot make the payload's notification socket in '%s'",
                                       directory);
        return !label || setxattr(name.sun_path, "security.selinux", label, strlen(label), 0) == 0 ||
               error_set_errno(error, errno, "Cannot label the payload's notification socket as '%s'", label);
}

bool payload_notify_open(PayloadNotify *notify, const char *private_directory, const char *label, GError **error) {
        notify->relay = relay_connect(PATH_RELAY, error);
        if (notify->relay < 0)
                return error_prefix(error, "The payload cannot notify systemd: ");
        notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (notify->socket < 0)
                return error_set_errno(error, errno, "Cannot make the payload's notification socket");
        return bind_in(notify->socket, private_directory, label, error);
}

static bool is_registered(const PayloadNotify *notify) {
        int bytes = 0;

        return ioctl(notify->relay, SIOCOUTQ, &bytes) < 0 || bytes <= 1;
}

static bool is_read(const PayloadNotify *notify) {
        char byte;

        return recv(notify->socket, &byte, 1, MSG_PEEK) < 0;
}

/* If this takes long, the relay is slow or dead. It will still do what it has to, but perhaps too late for a payload
 * that ends at once. */
static void await(const PayloadNotify *notify, bool (*is_done)(const PayloadNotify *)) {
        for (int i = 0; i < AWAIT_MSEC * 10 && !is_done(notify); i++)
                g_usleep(100);
}

/* Nobody but us sees the end of a process that we trace, until we exit. So when this returns, the relay watches the
 * payload, or the payload has ended and the relay has passed on its last words. */
bool payload_notify_hand_over(PayloadNotify *notify, const char *unit, pid_t main_process, GError **error) {
        NotifyRecord record = { .address = getenv("NOTIFY_SOCKET"), .payload = main_process, .unit = (char *) unit };
        g_autofree char *text = NULL;
        _cleanup_close_ int pidfd = -1;

        if (notify->socket < 0)
                return true;
        pidfd = (int) syscall(SYS_pidfd_open, main_process, 0);
        if (pidfd < 0)
                return errno == ESRCH || error_set_errno(error, errno, "Cannot watch the payload");
        text = notify_record_format(&record, error);
        if (!text ||
            !relay_send(notify->relay, text, (const int[]) { notify->socket, pidfd }, NOTIFY_RECORD_FDS, error))
                return false;
        await(notify, is_registered);
        if (hand_over_has_ended(main_process))
                await(notify, is_read);
        return true;
}

void payload_notify_drain(const PayloadNotify *notify, Notify *systemd, pid_t payload) {
        char message[NOTIFY_MESSAGE_MAX], state[NOTIFY_MESSAGE_MAX];
        bool had_status = false;
        ssize_t n;

        shutdown(notify->socket, SHUT_RD); /* what is there, is there */
        while ((n = recv(notify->socket, message, sizeof message, MSG_TRUNC)) >= 0) {
                size_t size = n <= NOTIFY_MESSAGE_MAX ? notify_filter(message, (size_t) n, state, NULL) : 0;

                if (size == 0)
                        continue;
                size = notify_filter_settle(state, size, &had_status);
                if (payload > 0)
                        (void) notify_send_as(systemd, state, size, payload, NULL);
                (void) notify_send_as(systemd, state, size, 0, NULL);
        }
}

void payload_notify_close(PayloadNotify *notify) {
        fd_closep(&notify->socket);
        fd_closep(&notify->relay);
        *notify = (PayloadNotify) PAYLOAD_NOTIFY_NULL;
}
