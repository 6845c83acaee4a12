/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Descriptors that outlive us: copies of them lie in the queue of a socket, as messages with a name, and both ends of
 * that socket lie in systemd's store of file descriptors (systemd.service(5), FileDescriptorStoreMax=), from which
 * they come back as $LISTEN_FDS of our next incarnation. systemd itself hears of it once. Were all descriptors given
 * to it, its one thread would look at each new one, compare it with all others, and fork to close it in the end.
 *
 * The protocol is spoken directly, because the relay is static. */
typedef struct FdStore FdStore;

/* What systemd calls the two ends. */
#define FD_STORE_NAME "store"

/* A new store, which is left with systemd. `address`: $NOTIFY_SOCKET; NULL makes one that dies with us, for a relay
 * that systemd does not run. */
FdStore *fd_store_open(const char *address, GError **error);
/* The store of an earlier incarnation. Takes over the two ends, in whatever order; not on errors. */
FdStore *fd_store_reopen(const int ends[2], GError **error);
void fd_store_free(FdStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FdStore, fd_store_free)

/* Keep copies of these, at most FD_STORE_GROUP_MAX, under a name; more may be added to it later. False: they do not
 * outlive us, but are tried again by each sweep. */
#define FD_STORE_GROUP_MAX 8
#define FD_STORE_NAME_MAX 31
bool fd_store_add(FdStore *store, const char *name, const int *fds, gsize n_fds, GError **error);

/* Show all that is in the store, in the order in which it was added. The descriptors are copies, close-on-exec, and
 * become the visitor's. A crash may have left something there twice. */
typedef void (*FdStoreVisit)(const char *name, const int *fds, gsize n_fds, void *data);
bool fd_store_read(FdStore *store, FdStoreVisit visit, void *data, GError **error);

/* Take out what need not be kept, and give it to `drop`, whose it becomes: the last close of some things takes time.
 */
typedef bool (*FdStoreKeep)(const char *name, void *data);
bool fd_store_sweep(FdStore *store, FdStoreKeep keep, FdStoreVisit drop, void *data, GError **error);

typedef struct ListenFd {
        const char *name; /* inside names */
        int fd;
} ListenFd;

/* What was given to us: from 3 on, with the names of $LISTEN_FDNAMES, the last element's fd being -1. The
 * names belong to *ret_names. The descriptors are made close-on-exec and become the caller's. Transfer
 * full. */
ListenFd *fd_store_received(const char *listen_pid, const char *listen_fds, const char *listen_fdnames,
                            char ***ret_names);
