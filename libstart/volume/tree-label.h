/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/systemd/systemd-notify.h"

/* Give SELinux's label to what `fd` (O_PATH or more) is open on and, of a directory, to all below it. A tree whose
 * own label is right is not looked into: what comes into a directory gets the directory's type, and the directory is
 * the last to be labelled. A file with a further name outside of the tree keeps its label, with a warning. What is on
 * a file system without labels is left as it is.
 *
 * path: for messages. systemd hears how far it is; NULL: nobody does. */
bool tree_change_label(int fd, const char *path, const char *label, Notify *systemd, GError **error);

/* Refuses directories of the system, as Podman does. named: the path with which `fd` was opened. */
bool tree_check_label_change(int fd, const char *named, GError **error);
