/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* `operation`, `events`: as of epoll_ctl(2). `about`: comes with the events. */
bool watch(int epoll, int operation, int fd, uint32_t events, uint64_t about, GError **error);

/* Before it is closed: a copy of it in the store would keep the events coming. -1 is fine. */
void unwatch(int epoll, int fd);

/* Has somebody waited for this process? Its id may be another's then. */
bool watch_is_reaped(int pidfd);
