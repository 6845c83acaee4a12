/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What an earlier container of the same directory has left there: its file was removed, refused or masked while it
 * ran, so that systemd no longer knew of the directory when it stopped; or libstart was killed; or systemd could not
 * remove it. */

/* Make room for the container `name` in the directory `path`, whose part that is closed to others is `private_path`.
 * To be called by one process at a time. Fails if a container with its state in there still runs. */
bool stale_state_clear(const char *path, const char *private_path, const char *name, GError **error);
