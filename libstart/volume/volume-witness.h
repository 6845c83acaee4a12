/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Who enters a user's view sees no more what the user's Podman has, nor the mounts of its containers: both are in a
 * namespace beside it. A process that stays outside is asked for these. */

/* To be called before the view is entered. Fails where there can be no process. */
bool volume_witness_start(GError **error);

/* What volume_find_user() says there of the volume. volume: its directory. Transfer full; NULL: nobody has it, or
 * there is an error, as where it is another directory outside. */
char *volume_witness_ask(int volume, const char *name, GError **error);
