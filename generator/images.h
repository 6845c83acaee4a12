/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"
#include "generator/key.h"
#include "generator/keyturn-conf.h"

/* Images that are brought by a service of their own, ahead of the container's: of a .image or .build file, or of Pull=. */

/* Pull=, Retry=, RetryDelay= and AutoUpdate=. */
KeyHandler handle_pull, handle_retry, handle_retry_delay, handle_auto_update;

/* The name of the image that Image=NAME.image or NAME.build means. The container's service comes after the one that brings it.
 * Transfer full. */
char *image_refer(Container *container, const char *file, GError **error);

/* Make the service that pulls (container->puller), where Pull= or DefaultPull= asks for it; check AutoUpdate=. */
void image_finish(Container *container, KeyturnConf *conf);

/* Where the image is there already, the service that would bring it is skipped by a condition, as long as it is: nothing is
 * executed. root: "" or the directory that stands for /. Nothing happens where it cannot be told, as /var is not mounted yet for
 * example: then the service itself looks. */
void image_skip_present(const Container *container, const char *root);

/* What services that bring images have in common, .image and .build files' and those of Pull=. */
void image_service_common(Service *service, const char *path);
