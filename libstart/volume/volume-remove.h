/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Remove a volume with its files. It need not be there. It stays, with a warning and without an error, where somebody
 * else has it: a container of Podman's, a process that it is mounted for, or who has mounted something in it.
 * directory: volume_directory(). podman_record_drop() comes before. */
bool volume_remove(const char *directory, const char *name, GError **error);
