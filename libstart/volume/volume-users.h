/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Who has the volume, for a message: a container of Podman's, a mount, a process. As this process sees it. volume:
 * its directory. Transfer full; NULL: nobody has, or there is an error. */
char *volume_find_user(int volume, const char *name, GError **error);
