/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"
#include "keyturn-config.h"

/* Named volumes, as containers refer to them: by their name, or by the .volume file that says what they are. What
 * makes one is a service of its own, ahead of the containers that use it. */

/* How ExecStart= of such a service begins. */
#define VOLUME_COMMAND KEYTURN_LIBDIR "/libstart volume"

/* Is it NAME.volume, and no path that ends so? */
bool volume_is_file(const char *source);

/* The name of the volume that SOURCE of Volume= or Mount= means: a name, or NAME.volume. The container's service
 * comes after the one that makes it. *ret_no_copy: nothing is copied into it from an image. Transfer full. */
char *volume_refer(Conversion *container, const char *source, bool *ret_no_copy, GError **error);

/* VolumeName=, or the name that Podman gives it. Transfer full. */
char *volume_file_name(const SourceFile *source);

/* Is the volume a .volume file with Driver=image? *ret_image is that image then, which the container's service waits
 * for; transfer full; else NULL. */
bool volume_find_image(Conversion *container, const char *source, char **ret_image, GError **error);

/* Driver=image. */
bool volume_file_is_image(const SourceFile *source);

/* Copy=false. */
bool volume_file_is_no_copy(const SourceFile *source);
