/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Is there a unit of that name, or a link, in a directory of lower priority than the generator's? For an instance, a
 * template there counts, too. Units of image_units (names; made by --install; may be NULL) do not count. root: "" or
 * a directory that stands for /. */
bool shadowed_unit_exists(const char *root, const char *service, const GPtrArray *image_units);
