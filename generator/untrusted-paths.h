/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* The directories of the host that payloads can write to, of all containers together. libstart must know them when it
 * opens a path of the host for one container: links in there were perhaps made by another (run/host-path.h). */
typedef struct UntrustedPaths UntrustedPaths;

#define UNTRUSTED_PATHS_FILE "keyturn-untrusted-paths"

UntrustedPaths *untrusted_paths_new(void);
void untrusted_paths_free(UntrustedPaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UntrustedPaths, untrusted_paths_free)

/* What this container can write to, whether it becomes a service here, is refused, or is left to Podman. */
void untrusted_paths_add(UntrustedPaths *paths, const Container *container);

/* Whether a file asks for something that is refused if it lies in such a directory: then all of them must be known before
 * the first service is made. */
bool untrusted_paths_matter(const UnitFile *unit);

/* Refuse files as standard streams where a payload could put a link: a problem of the container's. All directories are
 * known, see untrusted_paths_matter(). */
void untrusted_paths_check_streams(const UntrustedPaths *paths, Container *container);

/* Tell libstart of the list, in the container's args, where it opens paths of the host for it. `directory` is the one
 * that the list will be in. */
void untrusted_paths_refer(UntrustedPaths *paths, const Container *container, const char *directory);

/* The list: a path a line, with the escapes of C strings, outer ones before those in them. NULL where no container needs
 * it. Transfer full. */
GString *untrusted_paths_print(UntrustedPaths *paths);
