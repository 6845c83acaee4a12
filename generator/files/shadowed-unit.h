/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Is there a unit of that name, or a link, in one of the directories that count less than the generator's, or less
 * for an instance of a template in them? One of image_units is none: names of those that --install has made, may be
 * NULL. root: "" or a directory that stands for /. */
bool shadowed_unit_exists(const char *root, const char *service, const GPtrArray *image_units);
