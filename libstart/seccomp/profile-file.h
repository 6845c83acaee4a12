/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/seccomp/profile.h"

/* The text of the profile at `path` inside of `root` ("" or a directory that stands for /). Errors name
 * the file. Only a regular file is read, so that a FIFO cannot hold up a start. */
GBytes *seccomp_profile_read(const char *root, const char *path, GError **error);

/* The same, parsed. */
SeccompProfile *seccomp_profile_load(const char *root, const char *path, GError **error);
