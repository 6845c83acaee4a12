/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Leave the parent's session keyring for a new one of this process alone. It has no name: any process on the machine
 * could have made a keyring of that name before, with rights for all, and could read the keys in it (keyctl(2),
 * KEYCTL_JOIN_SESSION_KEYRING). Does nothing where the kernel has no keyrings. label: SELinux's, for the payload that
 * is to use it; NULL: this process's own. */
bool keyring_join_new(const char *label, GError **error);
