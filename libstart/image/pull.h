/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "libstart/image/tool-words.h"

/* Bring an image into the store, by skopeo, or by podman where that is not installed or has not the option. By its
 * policy nothing happens where the image is there, and with "newer" a registry that cannot be reached is only a
 * warning then. What was rolled back is not brought again, nor what may be that. Others who bring the same image at
 * the same time are waited for. */
bool image_pull(const PullRequest *request, GError **error);

/* The same for who has the lock of the name, and has looked what is there: as often as Retry= says. `name` is of
 * pull_find_name(), or an archive. Also of an artifact. */
bool image_pull_name(const PullRequest *request, const char *name, GError **error);

/* Which of the two will it be? */
bool pull_is_by_podman(const PullRequest *request);

/* The digest of what the registry has under `name`. Transfer full. */
char *image_remote_digest(const PullRequest *request, const char *name, GError **error);

/* `args` are options of podman build and its directory. Nothing happens where an image has the name `tag`.
 * global_args: options of podman's, or NULL. */
bool image_build(const char *tag, char *const *global_args, char *const *args, bool offline, GError **error);
