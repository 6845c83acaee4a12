/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/request/launch-args.h"
#include "libstart/request/request.h"

/* What the values of a command line mean, one by one and together. */

/* Read all values, each once, whatever they hold. The request uses the strings of `args`. Errors name the option;
 * *ret is left alone then. */
bool launch_args_read(const LaunchArgs *args, ContainerRequest *ret, GError **error);

/* Options that cannot be together, by their names without dashes. Whoever knows them by other names says these. */
typedef struct LaunchConflict {
        const char *option; /* the error begins with "--OPTION: " */
        const char *value;  /* of several; NULL: the last, or all. Belongs to the arguments */
        const char *other;  /* NULL: the value alone is wrong */
} LaunchConflict;

/* What launch_args_read() would refuse, and what the start would find out later, as far as it is known: values that
 * systemd has still to complete (% and $) are left out. is_users: a user's manager starts it. */
bool launch_args_check(const LaunchArgs *args, bool is_users, LaunchConflict *ret, GError **error);
