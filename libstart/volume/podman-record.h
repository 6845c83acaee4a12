/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Podman's database of volumes. What is in there, and used by no container of Podman's, `podman volume prune` removes
 * with its files, whoever else uses it. So a volume of keyturn's is not in there. It is in Podman's place and form
 * all the same: a container of Podman's that names it takes it over with its files. */

/* Take a volume that Podman has made, or taken over, out of its database; its files stay. Nothing where a container
 * of Podman's uses it. directory: volume_directory(). Fails only where the files are not in their place. */
bool podman_record_drop(const char *directory, const char *name, GError **error);

/* Is it in there, still? Then a container of Podman's uses it. Fails where Podman cannot tell. */
bool podman_record_find(const char *name, bool *ret_is_there, GError **error);
