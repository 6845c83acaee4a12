/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/relay/fd-store.h"
#include "tests/fuzz/fuzz.h"

/* LISTEN_FDS and LISTEN_FDNAMES, as systemd sets them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *pid = g_strdup_printf("%d", (int) getpid());
        g_auto(GStrv) parts = fuzz_parts(data, size, 2), names = NULL;
        g_autofree ListenFd *fds = NULL;

        g_strchomp(parts[0]);
        fds = fd_store_received(pid, parts[0], parts[1], &names);
        for (const ListenFd *fd = fds; fd->fd >= 0; fd++)
                require(fd->fd == 3 + (fd - fds) && fd->name, "descriptor %d in place %d", fd->fd, (int) (fd - fds));
        return 0;
}
