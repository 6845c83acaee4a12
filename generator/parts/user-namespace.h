/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"
#include "generator/unit/writer.h"

/* RemapUsers=, RemapUid=, RemapGid= and RemapUidSize=, which Podman has given up for UserNS=, UIDMap= and GIDMap=. */
KeyHandler handle_remap;

/* What the keys of a user namespace say together, after all of them and PodmanArgs=. */
void user_namespace_finish(Conversion *container);

/* Whether the container or pod surely has one of its own, after that. */
bool user_namespace_is_own(const LaunchArgs *args);
/* The same where systemd still has to expand what says so. */
bool user_namespace_may_be_own(const LaunchArgs *args);

/* The service that finds the ids of UserNS=auto ahead of the container, or makes the namespace that its network is to
 * belong to. NULL where there is nothing to find or to make, or only the start knows all that it depends on. Transfer
 * full. */
char *user_namespace_service(const Conversion *container);

/* Drop-ins that tell these services for whom. Nothing where there are none. */
void user_namespace_write(const Conversion *container, Writer *writer);

/* The service that copies the image of a user's container whose ids are not the user's (libstart/run/image-copy.h).
 * NULL as above; user_namespace_is_own() says whether there has to be one. Transfer full. */
char *user_namespace_copier(const Conversion *container);

/* Where the namespace is, or will be, that its network is to belong to: a file, or the directory of that service's.
 * NULL: the machine's. Transfer full. */
char *user_namespace_of_network(const Conversion *container);
