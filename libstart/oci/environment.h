/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/oci/spec-input.h"

/* Where the payload finds its socket: podman's place. */
#define NOTIFY_SOCKET_INSIDE "/run/notify/notify.sock"

/* The payload's whole environment, NAME=VALUE, each name once; nothing is added after this. Sources, later ones win:
 * built in (PATH, container), the image's, the caller's proxy variables or (--env-host) all of the caller's,
 * --env-file, --env, --secret; then HOSTNAME and HOME where unset, what socket activation and --sdnotify=container
 * need, and what devices of CDI need. A variable stands where its last assignment stands; an empty HOME counts as
 * unset, but one of CDI (both are runc's rules).
 *
 * An entry without a name is KT_ERROR_USAGE; values are never printed, they may be secret.
 *
 * The result is to be freed with g_free(), and its strings are where the input has them, as thousands of copies would
 * only cost; NUL bytes are put behind them in `env_files`. What few have to be made are added to `owned`. */
char **environment_build(const SpecInput *input, GPtrArray *owned, GError **error);
