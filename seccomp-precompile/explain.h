/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Prints which rules of a profile speak of a system call, which of them hold for a container with this
 * bounding set on this machine and why the others do not, and what the filter then does with it. profile:
 * NULL for the default one. words: the system call, then up to six arguments (numbers); without all of
 * those that the filter asks for, the verdict is that for 0. */
bool explain(const char *root, const char *profile, guint64 bounding_caps, const char *const *words, GError **error);
