/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Programs that copy images have their layers in files meanwhile, and leave them behind where they are ended before
 * their time. They would be more each day, so they have a place where they are found again: after it, and before the
 * next one, as this process may be ended, too. */

/* Run such a program. name: of the place, one at a time. podman: it is that, and not skopeo. what: for people. */
bool copy_run(GPtrArray *words, bool podman, const char *name, const char *what, GError **error);

/* Remove what one has left that was killed. */
void copy_forget(const char *name);
