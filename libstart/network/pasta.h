/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/network-conf.h"

/* pasta(1): what a container of a user's manager has in place of a bridge, a process that is its way out. Who has
 * made the namespace writes its words down, and keyturn-pasta@UNIT.service has it run in there. */

/* Its words, a line each, as rootless Podman has them: `network` is "pasta[:OPTION,...]", ports are of PortMapping,
 * with none that the kernel chooses. Pure. Transfer full. */
char *pasta_format_words(const NetworkConf *conf, const char *network, const GArray *ports, const char *netns,
                         GError **error);

/* `keyturn-network pasta UNIT`: runs it, which goes to the background as soon as there is a way out, and writes down
 * the names that come of it. */
bool pasta_command(const char *unit, GError **error);

/* KT_ERROR_NOT_FOUND where it has no namespace to be in, and gets none by itself. */
bool pasta_check(const char *unit, GError **error);
