/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/option/launch-args.h"
#include "libstart/option/request.h"

/* What the values of a command line mean, one by one and together. */

/* Read all values, each once, whatever they hold. The request uses the strings of `args`. Errors name the option; *ret is
 * left alone then. */
bool launch_args_read(const LaunchArgs *args, ContainerRequest *ret, GError **error);

/* Whether what is in `args` can be together. Values that systemd has still to complete (% and $) are left out. */
bool launch_args_check(const LaunchArgs *args, GError **error);
