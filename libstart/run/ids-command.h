/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What is made ahead of containers with ids of their own. `words` follow the verb; UNIT is the name of the
 * container's service, without the suffix, and options and image are as for `libstart run`. */

/* `libstart userns`: what keyturn-userns@.service runs ahead of a container or a pod with UserNS=auto, or with a
 * network that belongs to its user namespace.
 *
 *   UNIT [OPTION...] IMAGE   find its ids and pin a namespace with them; the image '-' is none: the ids do not depend
 *                            on one
 *   --unpin UNIT             undo the latter */
bool userns_command(const char *const *words, GError **error);

/* `libstart copy`: what keyturn-copy@.service of a user's manager runs (image-copy.h).
 *
 *   UNIT [OPTION...] IMAGE   make the copy of the image for the container of this service, if it is not there
 *   --forget UNIT            that one needs none until it starts again
 *   --clean                  remove copies that no container has */
bool copy_command(const char *const *words, GError **error);
