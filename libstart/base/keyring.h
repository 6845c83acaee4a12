/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Leave the session keyring that this process has from its parent for a new one that nobody else has. One without a
 * name: of one with a name any process on the machine may have made the like before, with rights for all, and would
 * read the keys that are put into it (keyctl(2), KEYCTL_JOIN_SESSION_KEYRING). Does nothing where the kernel has no
 * keyrings. label: SELinux's, for the payload that is to use it; NULL: this process's own. */
bool keyring_join_new(const char *label, GError **error);
