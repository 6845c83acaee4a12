/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Prints which rules of the profile at `path` speak of a system call, which of them hold for a container with this
 * bounding set on this machine and why the others do not, and what the filter then does with it. words: the system
 * call, then up to six arguments (numbers); one that is not given is 0. */
bool explain(const char *root, const char *path, guint64 bounding_caps, const char *const *words, GError **error);
