/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* podman's --ipc and --uts: "private" (and "shareable"), which means a namespace of the container's own; "ns:PATH", one that
 * there is. *ret_path is inside value; NULL for its own. KT_ERROR_UNSUPPORTED, with advice, for the host's and others'. */
bool namespace_option_parse(const char *value, const char **ret_path, GError **error);
