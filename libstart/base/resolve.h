/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <linux/openat2.h>
#include <stdint.h>
#include <sys/types.h>

/* openat2(2), for all who open paths that others may write: O_CLOEXEC is added, `mode` counts with O_CREAT only, and
 * `resolve` says how far links may lead (RESOLVE_*).
 *
 * With RESOLVE_IN_ROOT or RESOLVE_BENEATH the kernel gives up with EAGAIN at a ".." whenever anything on the machine
 * has been renamed or mounted since the look-up began, so that this tries again. Not for ever: whoever renames
 * without end, and any payload can, must not hold a start up. Returns a descriptor, or -1 and errno. */
int resolve_open(int directory_fd, const char *path, int flags, mode_t mode, uint64_t resolve);

/* Open once more what `fd` is open on, as a description of its own, with these flags of open(2). -1 with errno. */
int fd_reopen(int fd, int flags);

/* Open for reading what `fd` (O_PATH) is, if that is a regular file; -1 with errno, EINVAL if it is not. So nobody
 * can put a device or a FIFO in its place after a look at it. */
int fd_open_regular(int fd);
