/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/relay/fd-store.h"

/* A user's relay is in her view (base/user-view.h), as all her containers are, and is its holder: a namespace lasts
 * as long as somebody is in it or has it open. Descriptors of both namespaces lie in systemd's store, so that the
 * next relay is in the same view.
 *
 * Takes over the view of a holder that lives: keyturn-view.service has just made it. If none lives, enters the view
 * in the store; if none is there, waits for one. `received`: what systemd gave back; those of the view are closed.
 * `address`: $NOTIFY_SOCKET. `has_output`: some waits for this relay, so that one that has found no view must be
 * started again; else it fails with KT_ERROR_USAGE. For root nothing. */
bool view_keeper_take(const ListenFd *received, const char *address, bool has_output, GError **error);
