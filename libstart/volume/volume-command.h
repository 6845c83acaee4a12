/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart volume`: what the services of volumes run, see libstart(8). `words` follow the verb.
 *
 *   [--label KEY=VALUE] [--opt KEY[=VALUE]] NAME   make the volume if it is not there, and mount what --opt device=
 *                                                  names
 *   --unmount NAME                                 undo that
 *   --remove NAME                                  remove it with its files; it need not be there
 *
 * Where Podman is installed, it makes the volume, and has it in its database with labels and options. */
bool volume_command(const char *const *words, GError **error);
