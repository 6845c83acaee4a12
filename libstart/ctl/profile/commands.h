/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/commands.h"

int command_profile(const GPtrArray *all, const Options *options, char **words, GError **error);
