/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/definition.h"
#include "libstart/network/network-conf.h"

/* The networks of this machine: NAME.json in Podman's directory and, where that cannot be written, in keyturn's own,
 * of which Podman knows nothing. Whoever writes holds the lock (network-lock.h). */

/* That one; without a file, the default network. KT_ERROR_NOT_FOUND. */
NetworkDefinition *network_files_find(const NetworkConf *conf, const char *name, GError **error);

/* Is there a file? */
bool network_files_has(const NetworkConf *conf, const char *name);

/* All names, sorted, the default network's too. Array of char*. */
GPtrArray *network_files_list(const NetworkConf *conf);

/* Subnets that a new network cannot have: of the others, and of the machine's interfaces. Array of IpPrefix. */
GArray *network_files_used_subnets(const NetworkConf *conf);

/* "podman1", or the next that neither a network nor the machine has. Transfer full. */
char *network_files_free_interface(const NetworkConf *conf);

/* Replaces its file, or makes one. */
bool network_files_write(const NetworkConf *conf, const NetworkDefinition *definition, GError **error);

/* No file is no error. */
bool network_files_remove(const NetworkConf *conf, const char *name, GError **error);
