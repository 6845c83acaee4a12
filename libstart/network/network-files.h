/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/definition.h"
#include "libstart/network/network-conf.h"

/* The networks of this machine: NAME.json in Podman's directory and, where that cannot be written, in keyturn's own,
 * of which Podman knows nothing. Whoever writes holds the lock (network-lock.h).
 *
 * Where it cannot be told whether there is a file, or what it says, that is an error: a network that is missed is
 * made anew over the old one, or another gets its subnet and its bridge. */

/* That one; the default network as Podman has it where it has no file, which of any other is KT_ERROR_NOT_FOUND.
 * Transfer full. */
NetworkDefinition *network_files_find(const NetworkConf *conf, const char *name, GError **error);

/* Is there a file with something in it? */
bool network_files_has(const NetworkConf *conf, const char *name, bool *ret, GError **error);

/* All names, sorted, the default network's too. Array of char*. Transfer full. */
GPtrArray *network_files_list(const NetworkConf *conf, GError **error);

/* All of them; a warning of each file that describes none. Array of NetworkDefinition. Transfer full. */
GPtrArray *network_files_read_all(const NetworkConf *conf, GError **error);

/* Subnets that a new network beside these cannot have: theirs, and those of the machine's interfaces. Array of
 * IpPrefix. Transfer full. */
GArray *network_files_used_subnets(const GPtrArray *all, GError **error);

/* "podman1", or the next that neither one of these nor the machine has. Transfer full. */
char *network_files_free_interface(const GPtrArray *all, GError **error);

/* Replaces its file, or makes one. */
bool network_files_write(const NetworkConf *conf, const NetworkDefinition *definition, GError **error);

/* From both directories. No file is no error. */
bool network_files_remove(const NetworkConf *conf, const char *name, GError **error);
