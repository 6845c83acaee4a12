/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Put the payload's standard input in place of ours.
 *
 * The threat: a descriptor that is open for reading only still lets root in a container change the file's mode, and
 * open it again for writing. /dev/null (libcrun opens the container's own), sockets, pipes and files that have no
 * name any more (StandardInputText=) are the payload's as they are. A file (StandardInput=file:) is opened anew on a
 * mount of its own, which is read-only: nothing of it can be changed through that, nor be opened for writing.
 * Terminals and devices are refused; in the foreground (not `detach`), where a terminal is just the one that libstart
 * was called from, the payload reads nothing from it, as with podman run without -i.
 *
 * is_kept: in a service that has no standard input, the payload's never ends, as with podman run -i -d. */
bool payload_input_open(bool detach, bool is_kept, GError **error);
