/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/commands.h"

/* keyturnctl profile --diff BEFORE.svg AFTER.svg: a table of what has changed most, and with --output a picture of
 * the second one, in the colours of the change. */
bool profile_diff(const Options *options, char **files, GError **error);
