/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"
#include "generator/unit/key.h"

/* Images that are brought by a service of their own, ahead of the container's: of a .image or .build file, or of
 * Pull=. */

/* Pull=, Retry=, RetryDelay= and AutoUpdate=. */
KeyHandler handle_pull, handle_retry, handle_retry_delay, handle_auto_update;

/* The handler of a key that is an option of keyturn-image: key->text names it. */
KeyHandler handle_tool_option;

/* The name of the image that Image=NAME.image or NAME.build means. The container's service comes after the one that
 * brings it. Transfer full. */
char *image_refer(Conversion *container, const char *file, GError **error);

/* Can it be an image's name or id? What systemd expands, and what has a transport, is left for libstart to check. */
bool image_check_name(const char *name, GError **error);

/* May Image= name such a file by it? */
bool image_is_file(const char *name);

/* The same for an image beside the service's own, as for a volume. A name that is no file's stays as it is. Transfer
 * full. */
char *image_refer_beside(Conversion *container, const char *image, GError **error);

/* In the container's service: not before its image can be brought it is tried again, whatever Restart= says. */
void image_service(Conversion *container);

/* Make the service that pulls (container->image.puller), where Pull= or DefaultPull= asks for it; check AutoUpdate=.
 */
void image_finish(Conversion *container);
