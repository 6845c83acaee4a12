/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/oci/host-facts.h"
#include "libstart/oci/image-config.h"
#include "libstart/oci/user.h"
#include "libstart/option/launch-args.h"

typedef struct EnvironmentInput {
        const LaunchArgs *args;
        const ImageConfig *image;
        const UserIdentity *user;
        const HostFacts *host;
        char *const *files;   /* contents of args->env_files, in their order, NULL-terminated; NULL: there are none */
        const GPtrArray *env; /* args->env, with the entries of args->env_list in their places (env-list.h) */
} EnvironmentInput;

/* The payload's whole environment, NAME=VALUE, each name once; nothing is added after this. Sources,
 * later ones win: built in (PATH, container), the image's, the caller's proxy variables or (--env-host)
 * all of the caller's, --env-file, --env; then HOSTNAME and HOME where unset, and what socket activation
 * and --sdnotify=container need. A variable stands where its last assignment stands; an empty HOME counts
 * as unset (both are runc's rules).
 *
 * An entry without a name is KT_ERROR_USAGE; values are never printed, they may be secret.
 *
 * The result is to be freed with g_free(), and its strings are where the input has them, as thousands of copies would only
 * cost; NUL bytes are put behind them in `files`. What few have to be made are added to `owned`. */
char **environment_build(const EnvironmentInput *input, GPtrArray *owned, GError **error);
