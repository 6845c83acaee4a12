/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Which namespace of a kind a container is in: a new one of its own, if neither is set. */
typedef struct NamespaceChoice {
        bool host;        /* the machine's */
        const char *path; /* the one that this file is */
} NamespaceChoice;

/* podman's --pid, --ipc and --uts: "private" (and "shareable"), "host", "ns:PATH". ret->path is inside value.
 * KT_ERROR_UNSUPPORTED, with advice, for that of another container. */
bool namespace_option_parse(const char *value, NamespaceChoice *ret, GError **error);
