/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart userns`: what keyturn-userns@.service runs ahead of a container or a pod with UserNS=auto, or with a
 * network that belongs to its user namespace. `words` follow the verb.
 *
 *   UNIT [OPTION...] IMAGE   find its ids and pin a namespace with them; options and image are as for `libstart run`;
 *                            the image '-' is none: the ids do not depend on one
 *   --unpin UNIT             undo the latter
 *
 * UNIT is the name of the container's service, without the suffix. */
bool userns_command(const char *const *words, GError **error);
