/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/mount-plan.h"
#include "libstart/request/request.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/value/network-names.h"

/* The files that Podman generates for a container: /etc/hosts, /etc/resolv.conf, /etc/hostname, /etc/mtab and
 * /run/.containerenv; /etc/localtime with a time zone. `hostname` is the container's, `network` what there is to say
 * of its networks (NULL: it has the host's network, or none), image_id that of its image, or NULL. */

/* Into the uppermost layer (upper-layer.h), which is not mounted yet. What was written is added to `made`
 * (made-files.h). */
bool etc_files_write(int upper, char *const *layers, const UserNamespace *userns, const ContainerRequest *request,
                     const char *image_id, const char *hostname, const NetworkNames *network, GPtrArray *made,
                     GError **error);

/* The link /etc/mtab, which only the layers together can tell whether the image has it. root_fd: they are mounted
 * there. */
bool etc_files_add_mtab(int root_fd, GError **error);

/* For a root directory that is not ours to write into: into the directory `layer`, which in the container's process
 * is `place`, to be mounted one by one on the files of the root `root_fd` (MountRequest, transfer full). A file that
 * is not there and cannot be made, because the directory is read-only, is left out, or an error if a key asks for
 * what is in it. passwd, group: from etc_passwd() and etc_group(), or NULL. */
GPtrArray *etc_files_write_apart(int layer, const char *place, int root_fd, const ContainerRequest *request,
                                 const char *hostname, const NetworkNames *network, const char *passwd,
                                 const char *group, GError **error);

/* Does the container see the files that AddHost=, DNS= and Timezone= ask for, or does another of its mounts hide
 * them? Those with a source below the directory `own` are the files themselves. */
bool etc_files_check(const ContainerRequest *request, const MountPlan *mounts, const char *own, GError **error);
