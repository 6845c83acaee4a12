/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/option/request.h"
#include "libstart/run/systemd-notify.h"

/* Label the sources of those mounts that ask for it (z, Z) as the container's files: `label`, NULL for none. volumes: the
 * directory of those that have names. systemd hears how far it is, and waits. */
bool relabel_mounts(const ContainerRequest *request, const char *volumes, const char *label, Notify *systemd,
                    GError **error);
