/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* systemd's store of file descriptors (systemd.service(5), FileDescriptorStoreMax=): what lies there
 * outlives us and comes back as $LISTEN_FDS of our next incarnation. The protocol is spoken directly,
 * because the relay is static. */
typedef struct FdStore FdStore;

/* `address`: $NOTIFY_SOCKET; NULL makes a store that keeps nothing, for a relay that systemd does not
 * run. */
FdStore *fd_store_open(const char *address, GError **error);
void fd_store_free(FdStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FdStore, fd_store_free)

/* Keep copies of these, at most FD_STORE_GROUP_MAX, under one name (without ':'); more may be added to it
 * later. When this returns they lie in systemd's queue, which our death does not empty.
 *
 * They are stored as one descriptor, a socket with a message that holds them: systemd compares each new
 * descriptor with all that it has, and forks for each that it drops. fd_store_open_box() takes them out. */
#define FD_STORE_GROUP_MAX 8
bool fd_store_add(FdStore *store, const char *name, const int *fds, gsize n_fds, GError **error);

/* Drop all of one name. */
bool fd_store_remove(FdStore *store, const char *name, GError **error);

/* Copies of what lies in a stored descriptor, which stays as it is, for our next incarnation; into
 * fds[FD_STORE_GROUP_MAX], close-on-exec. */
bool fd_store_open_box(int box, int *fds, gsize *ret_n_fds, GError **error);

typedef struct ListenFd {
        const char *name; /* inside names */
        int fd;
} ListenFd;

/* What was given to us: from 3 on, with the names of $LISTEN_FDNAMES, the last element's fd being -1. The
 * names belong to *ret_names. The descriptors are made close-on-exec and become the caller's. Transfer
 * full. */
ListenFd *fd_store_received(const char *listen_pid, const char *listen_fds, const char *listen_fdnames,
                            char ***ret_names);
