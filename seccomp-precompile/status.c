/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <glib.h>

#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "seccomp-precompile/status.h"

void status_send(const char *text) {
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        g_autofree char *state = g_strconcat("STATUS=", text, NULL);

        if (!path || strlen(path) >= sizeof address.sun_path)
                return;
        memcpy(address.sun_path, path, strlen(path));
        if (path[0] == '@') /* abstract */
                address.sun_path[0] = '\0';
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *) &address,
                             (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0)
                log_debug("systemd does not hear the status: %s", g_strerror(errno));
}
