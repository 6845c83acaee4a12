/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/commands.h"

int command_install(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_uninstall(const GPtrArray *all, const Options *options, char **words, GError **error);
int command_cat(const GPtrArray *all, const Options *options, char **words, GError **error);
