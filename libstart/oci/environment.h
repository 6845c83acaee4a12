/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/base/launch-args.h"
#include "libstart/oci/host-facts.h"
#include "libstart/oci/image-config.h"
#include "libstart/oci/user.h"

/* The payload's whole environment, NAME=VALUE, each name once; nothing is added after this. Sources,
 * later ones win: built in (PATH, container), the image's, the caller's proxy variables or (--env-host)
 * all of the caller's, --env-file, --env; then HOSTNAME and HOME where unset, and what socket activation
 * and --sdnotify=container need. A variable stands where its last assignment stands; an empty HOME counts
 * as unset (both are runc's rules).
 *
 * env_file_contents: of args->env_files, in their order, NULL-terminated; NULL: there are none. An entry
 * without a name is KT_ERROR_USAGE; values are never printed, they may be secret. Transfer full. */
char **environment_build(const LaunchArgs *args, const ImageConfig *image, const UserIdentity *user,
                         const HostFacts *host, const char *const *env_file_contents, GError **error);
