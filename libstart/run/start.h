/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/request/launch-args.h"

/* One start with all that it holds. It uses the arguments that it was given as long as it lives. */
typedef struct Start Start;

/* `libstart run`: find the image, prepare the root, start the payload, hand it over to systemd or wait for it.
 * Returns the exit status for this process; with *error set it is one of exit-codes.h. Does not return if the
 * payload was killed by a signal: this process then dies of the same one.
 *
 * *ret is set in any case, so that it is not lost: nothing frees it but the end of this process, which is next. */
int start_container(const LaunchArgs *args, Start **ret, GError **error);

/* `libstart run --print-spec`: the OCI config.json of the same, transfer full. Starts and changes nothing. */
char *start_print_spec(const LaunchArgs *args, GError **error);
