/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What yajl must not be given of JSON that comes from an image. Both look at the text only, which need not be JSON,
 * and fail with KT_ERROR_FAILED. */

/* Half of a surrogate pair, as in "\ud800": yajl's decoder loses its place behind it, and reads on past the string
 * and past the text (CVE-2017-16516). And a NUL in a string, behind which a tree does not look: "User\u0000" is no
 * "User". */
bool json_check_escapes(const char *text, gsize length, GError **error);

/* The same, and more than `max_depth` objects and arrays inside each other: whoever frees yajl's tree recurses once
 * per level, so that a megabyte of brackets would end the program. */
bool json_check(const char *text, gsize length, guint max_depth, GError **error);
