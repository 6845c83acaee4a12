/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/request/host-access.h"

/* Opens the host's file that a payload's output is to be appended to (podman's --log-opt path=), and makes it where
 * it is not there: root's, and for nobody else. Its directory is found as the sources of volumes are
 * (mount/host-path.h); the file itself is no link, device or FIFO, and nobody makes this wait. Returns a descriptor,
 * or -1. */
int log_file_open(const char *path, const HostAccess *access, GError **error);
