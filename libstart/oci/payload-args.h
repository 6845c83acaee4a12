/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/image-config.h"
#include "libstart/request/request.h"

/* Where an init of the host's is in a container, as with podman. */
#define INIT_INSIDE "/run/podman-init"

/* The payload's argv, by podman's rules: --entrypoint replaces the image's entrypoint and takes away the
 * image's command; words after the image replace the image's command. Fails with KT_ERROR_NOT_FOUND if
 * nothing is left to run. With request->init, the init comes first. Transfer full. */
char **payload_args_build(const ContainerRequest *request, const ImageConfig *image, GError **error);
