/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart userns`: what keyturn-userns@.service runs ahead of a container with UserNS=auto. `words` follow the verb.
 *
 *   UNIT [OPTION...] IMAGE   find its ids and pin a namespace with them; options and image are as for `libstart run`
 *   --unpin UNIT             undo the latter
 *
 * UNIT is the name of the container's service, without the suffix. */
bool userns_command(const char *const *words, GError **error);
