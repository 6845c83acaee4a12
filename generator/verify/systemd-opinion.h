/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* What `systemd-analyze verify` says about the units, at the lines of the files that they are made of. Nothing
 * happens where it is not installed. */
bool systemd_opinion_add(const Generation *generation, const char *root, Report *report, GError **error);
