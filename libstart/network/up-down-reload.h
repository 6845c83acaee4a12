/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What a namespace is to have: podman run's options, as strings or NULL. */
typedef struct UpOptions {
        char *container_name, *hostname, *userns, *id;
        char **networks, **publish, **dns, **sysctls;
} UpOptions;

/* Makes the network namespace of a unit. What a killed one has left is removed first; on errors nothing is left. */
bool up_command(const char *unit, const UpOptions *options, GError **error);

/* Removes it, and what was left of others whose removal was killed. None is no error. */
bool down_command(const char *unit, GError **error);

/* The same of a user whose view cannot be entered: its unit begins anew only after this one has stopped, which is
 * ordered behind it. The namespaces have gone; the files have not. */
bool down_without_view(const char *unit, GError **error);

/* Makes interface and rules anew, of that unit's namespace or, with NULL, of all, as `podman network reload` does:
 * for when a firewall has been flushed. Addresses, names and ports stay. */
bool reload_command(const char *unit, GError **error);
