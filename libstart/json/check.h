/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What yajl must not be given of JSON that comes from an image, and what would mean one thing to it and another to Go's
 * programs. The text need not be JSON: then it is looked at as far as it is. Both fail with KT_ERROR_FAILED. */

/* Half of a surrogate pair, as in "\ud800": yajl's decoder loses its place behind it, and reads on past the string and
 * past the text (CVE-2017-16516). */
bool json_check_escapes(const char *text, gsize length, GError **error);

/* depth: how many objects and arrays may be inside each other. Whoever frees yajl's tree recurses once per level, so that a
 * megabyte of brackets would end the program. The rest is of keys.h. */
typedef struct JsonLimits {
        guint depth;
        const char *const
                *names; /* that are read; NULL: their case is checked by who reads them, or does not matter */
        bool is_map;    /* the keys of the topmost object are somebody's own words */
} JsonLimits;

/* The same, and what is beyond the limits, or has two meanings. */
bool json_check(const char *text, gsize length, const JsonLimits *limits, GError **error);
