/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Before any of them in a user's view: podman, skopeo and buildah are told, as by `podman unshare`, that they have
 * the user's namespace already, and what they mount stays in a mount namespace of this process's. Else nothing. */
bool tool_prepare(GError **error);

/* Is that program in the search path? */
bool tool_is_there(const char *name);

/* Run it and wait. What it says goes to the journal; to systemctl status as well, behind `what`. Its last line is the
 * error's reason where it fails. has_deadline: it is ended where it does not get on (deadline.h); else it may do
 * nothing that can be seen for as long as it likes. words: as in tool-words.h; NULL is added. */
bool tool_run(GPtrArray *words, const char *what, bool has_deadline, GError **error);

/* Run it, and return what it prints, within the time that there is to ask a registry. Transfer full. */
char *tool_read(GPtrArray *words, GError **error);
