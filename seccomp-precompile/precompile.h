/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Makes every filter of `requests` (of SeccompRequest) that is missing or stale.
 *
 * root: "" or a directory that stands for /. output: NULL for PATH_SECCOMP of this boot, where filters
 * are recognised by the state of their sources and those of the image are used; else a directory that
 * becomes part of a system image, where they are recognised by the text of the profile. Logs what goes
 * wrong; returns false if anything did, after having made all that could be made. */
bool precompile(const char *root, const char *output, const GPtrArray *requests);
