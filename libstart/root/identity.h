/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/image-config.h"
#include "libstart/oci/user.h"
#include "libstart/request/request.h"
#include "libstart/userns/user-namespace.h"

/* Who the payload is, and the files that say so: the image's /etc/passwd and /etc/group, or NULL. */
typedef struct Identity {
        UserIdentity user;
        UserIdentity outside; /* the payload's ids as the host has them, and no more of it */
        char *passwd, *group;
} Identity;

/* The user that is asked for, or else the image's, as the files below root_fd have it, or those that are mounted
 * over them; root only if that is asked for, where /etc/passwd is mounted. Without those groups of /etc/group that
 * the user namespace does not have; a warning names them. Fails where it lacks another id. */
bool identity_read(int root_fd, const ContainerRequest *request, const ImageConfig *image,
                   const UserNamespace *userns, Identity *ret, GError **error);

void identity_clear(Identity *identity);
