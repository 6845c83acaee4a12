/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart copy`: what keyturn-copy@.service of a user's manager runs (image-copy.h). `words` follow the verb.
 *
 *   UNIT [OPTION...] IMAGE   make the copy of the image for the container of this service, if it is not there
 *   --clean                  remove copies that no container has */
bool copy_command(const char *const *words, GError **error);
