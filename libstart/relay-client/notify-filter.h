/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Which of a payload's messages systemd gets to hear; see notify-filter.c. */

/* The longest message that systemd reads (and so is worth reading here). */
#define NOTIFY_MESSAGE_MAX 4096

/* What of a message may be told. `message` is as it was received, at most NOTIFY_MESSAGE_MAX bytes; what remains of
 * it is written to `ret`, which has room for as many, without a NUL byte. Returns its size: 0 if there is nothing to
 * tell.
 *
 * *ret_refused (unless `ret_refused` is NULL): the name of an assignment in it that a payload may mean well, but may
 * not say, to be complained of; else NULL. */
size_t notify_filter(const char *message, size_t size, char *ret, const char **ret_refused);

/* With its first READY=1 the payload is no longer waited for, which libstart has left as its status: that is cleared,
 * by "STATUS=" at the end, unless the payload has said something else. state: as notify_filter() has written it, with
 * room for NOTIFY_MESSAGE_MAX bytes. *had_status: of the messages before, and set. Returns the size. */
size_t notify_filter_settle(char *state, size_t size, bool *had_status);

/* Does a message that notify_filter() has written begin a line with that? */
bool notify_filter_says(const char *state, size_t size, const char *assignment);

/* Is this sd_notify_barrier(3), which waits until all that came before has been taken? */
bool notify_filter_is_barrier(const char *message, size_t size);
