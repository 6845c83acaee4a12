/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/store-conf.h"

/* `libstart view`, which keyturn-view.service of a user's manager is: makes what user-view.h describes, and ends once
 * the user's relay has taken it.
 *
 * Inside, the user's id is 0 and the subordinate ids follow (newuidmap(1)); a user without any has the one id. And:
 *   /run/keyturn         is $XDG_RUNTIME_DIR/keyturn
 *   /run/systemd         is $XDG_RUNTIME_DIR/systemd, where the user's manager listens, with the host's journal
 *   /var/lib/keyturn     is ~/.local/share/keyturn
 *   /etc/containers      has a storage.conf of the user's store, above the host's files
 *
 * What was before stays where something fails. */
bool view_make(GError **error);

/* storage.conf(5) for the view, as Podman has it for users: what the user's own file says (`own`, called `name` in
 * errors; NULL: there is none), then rootless_storage_path of the machine's, which `settings` have, and else the
 * user's store below `share`. The machine's additional stores are not a user's. Pure. Transfer full. */
char *view_storage_conf(StoreSettings *settings, const char *own, const char *name, const char *share,
                        GError **error);
