/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/selinux-label.h"
#include "libstart/request/request.h"
#include "libstart/service/state-dir.h"

/* Find the labels of a container, and make sure that the kernel can give them: a profile of AppArmor's must be
 * loaded, and SELinux's policy must know what the file asks for. Where `selinux` is false, or no policy for
 * containers is installed, there are none; a request for a part of one is refused in the latter case, and means
 * nothing in the former, as with Podman.
 *
 * The level of a container is its name's, so that files keep fitting from start to start, unless another container
 * that runs has that one: then the next. Who is who stands in their directories on /run, and for Podman's in its
 * storage. is_init: the payload manages the container, and has the type of such where the policy has one and the
 * request says none. state_dir: NULL for looking only, which takes no level from anybody. */
bool labels_find(const ContainerRequest *request, bool selinux, bool is_init, const StateDir *state_dir,
                 SelinuxLabels *ret, GError **error);

/* The label of what the containers of a pod share, which also is where they have their level from: a tmpfs is mounted
 * with it. The pod's name in `directory` chooses it. NULL where no policy for containers is installed. Transfer full.
 */
bool labels_find_pod(const char *directory, char **ret_file, GError **error);
