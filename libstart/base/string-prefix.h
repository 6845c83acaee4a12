/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The first of these, up to NULL, that `text` begins with, or NULL. */
static inline const char *string_prefix(const char *text, const char *const *prefixes) {
        while (*prefixes && !g_str_has_prefix(text, *prefixes))
                prefixes++;
        return *prefixes;
}
