/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/relay/fd-store.h"

/* The relay itself: takes registrations from its socket, and moves lines and notifications until they end. */
typedef struct Relay Relay;

/* `socket`: the datagram socket that libstart registers at, taken over; -1 to serve only what is
 * restored. `store` must outlive the relay. `notify_address`: $NOTIFY_SOCKET, or NULL. */
Relay *relay_new(int socket, FdStore *store, const char *notify_address, GError **error);
void relay_free(Relay *relay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Relay, relay_free)

/* Go on with all that an earlier incarnation has left in the store. */
bool relay_restore(Relay *relay, GError **error);

/* Wait for events, at most `timeout` milliseconds (-1: for ever), and handle them. */
bool relay_step(Relay *relay, int timeout, GError **error);

/* How many containers it serves. */
guint relay_n_sources(const Relay *relay);
