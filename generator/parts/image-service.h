/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* The services that bring images: of .image and .build files, and of Pull= in a .container file. */

/* What they have in common. service: that of the .image, .build or .artifact file, or a container's puller. One that
 * fails is tried again after so many seconds, and the containers that wait for it with it. */
void image_service_common(const Conversion *container, Service *service, const char *seconds);

#define IMAGE_PULL_AGAIN "20"
#define IMAGE_BUILD_AGAIN "60"

/* ExecStart= of one that pulls container->image.name by the policy container->image.pull, or an artifact, which has
 * none. service: as above, but of a .build file. */
void image_service_pull(const Conversion *container, Service *service);

/* ExecStart= of one that builds. context: the directory whose files the build may copy, or NULL. */
void image_service_build(const Conversion *container, const char *context);

/* Where the image is there already, the service that would bring it is skipped by a condition, as long as it is:
 * nothing is executed. root: "" or the directory that stands for /. Nothing happens where it cannot be told, as /var
 * is not mounted yet for example: then the service itself looks. */
void image_skip_present(const Conversion *container, const char *root);
