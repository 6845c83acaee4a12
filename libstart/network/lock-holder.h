/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who has a lock (fcntl(2)) of the file that `fd` is open on: "process 12 (podman) of user 0". The kernel tells it in
 * /proc/PID/fdinfo, also of locks that belong to an open file, for which F_OFD_GETLK and /proc/locks have no number.
 * Transfer full; NULL: nobody, or nobody who is seen. */
char *lock_holder_find(int fd);
