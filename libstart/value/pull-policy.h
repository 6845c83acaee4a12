/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* When an image is pulled: missing (where it is not there), newer (where the registry's is another), always or never.
 */
bool pull_policy_check(const char *value, GError **error);
