/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/image/tool-words.h"

/* The digest of what the registry has under `name`. Transfer full. */
char *image_remote_digest(const PullRequest *request, const char *name, GError **error);
