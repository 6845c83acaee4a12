/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/log/fd-store.h"

/* The relay itself: takes registrations from its socket and moves lines until they end. */
typedef struct Relay Relay;

/* `socket`: the datagram socket that libstart registers at, taken over; -1 to serve only what is
 * restored. `store` must outlive the relay. */
Relay *relay_new(int socket, FdStore *store, GError **error);
void relay_free(Relay *relay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Relay, relay_free)

/* A container whose descriptors systemd has kept, as it gives them back (fd-store.h); takes them over. */
void relay_restore(Relay *relay, const char *name, const int *boxes, gsize n_boxes);

/* Wait for events, at most `timeout` milliseconds (-1: for ever), and handle them. */
bool relay_step(Relay *relay, int timeout, GError **error);

/* How many containers it serves. */
guint relay_n_sources(const Relay *relay);
