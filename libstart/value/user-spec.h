/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* USER[:GROUP] of podman's --user and of an image, each a name or a number. Only the form is checked
 * here; what the names stand for is found in the container's /etc/passwd and /etc/group. ret_group is
 * NULL where no group is given. Either part may be empty. Either ret may be NULL; transfer full. */
bool user_spec_parse(const char *value, char **ret_user, char **ret_group, GError **error);

/* The groups that the service itself has (SupplementaryGroups=), and no others. */
#define USER_SPEC_KEEP_GROUPS "keep-groups"

/* GROUP[,GROUP...] of podman's --group-add, names or numbers, as one list, or USER_SPEC_KEEP_GROUPS alone. Fails for
 * what cannot be a group. Transfer full. */
char **user_spec_parse_groups(const char *value, GError **error);

/* Is it a number? Then it is an id, never a name, and *ret is set. Fails for one above 2^31 - 1, as
 * Podman does; *ret_numeric tells whether it is one at all. */
bool user_spec_parse_id(const char *text, bool *ret_numeric, guint32 *ret, GError **error);
