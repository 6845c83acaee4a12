/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/commands.h"
#include "libstart/ctl/profile/flame.h"

/* A table of the parts, and of the functions that take most, or have changed most since the older graph; with
 * --output also a picture, below `title`. */
bool profile_report(const FlameGraph graphs[2], const char *title, const Options *options, GError **error);
