/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/parts/machine-conf.h"
#include "generator/unit/conversion.h"

/* The directories of the host that payloads can write to, of all containers together. When libstart opens a path of
 * the host for one container, a link in such a directory may have been made by another (libstart/mount/host-path.h).
 */
typedef struct UntrustedPaths UntrustedPaths;

#define UNTRUSTED_PATHS_FILE "keyturn-untrusted-paths"

UntrustedPaths *untrusted_paths_new(void);
void untrusted_paths_free(UntrustedPaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UntrustedPaths, untrusted_paths_free)

/* Add what this container can write to, also where it is refused or left to Podman; or what a build can; or the
 * directory of the host that a volume is. */
void untrusted_paths_add(UntrustedPaths *paths, const Conversion *container);

/* Does a file name something that is refused if it lies in such a directory? Then all of them must be known before
 * the first service is made. */
bool untrusted_paths_matter(const UnitFile *unit);

/* Add a problem where a standard stream is a file in such a directory: a payload could put a link there. All
 * directories must be known, see untrusted_paths_matter(). */
void untrusted_paths_check_streams(const UntrustedPaths *paths, Conversion *container);

/* Name the list in the container's args, if libstart opens paths of the host for it. `directory` is where the list
 * will be. */
void untrusted_paths_refer(UntrustedPaths *paths, const Conversion *container, const char *directory);

/* The same for a .volume file whose Device= is a path, or an overlay of some. */
void untrusted_paths_refer_device(UntrustedPaths *paths, const Conversion *volume, const char *directory);

/* The list: a path a line, with the escapes of C strings, parents before what is below them. NULL where no container
 * needs it. Transfer full. */
GString *untrusted_paths_print(UntrustedPaths *paths, MachineConf *conf);
