/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/mount-label.h"
#include "libstart/request/request.h"
#include "libstart/userns/user-namespace.h"

/* A container's secrets. The values are in memory only, on no disk and in no swap: those that become variables in
 * this process, the others in files of a file system of their own, without a place in the host's tree. It is mounted
 * in the container's mount namespace, as long as the container's mounts are made, and each file is bound to its own
 * place; so it ends with the container, however that ends. What the payload's environment is anyway in, the state
 * that only root can read (runtime/runtime-state.c), has the variables, too: for `keyturnctl exec`, as with Podman.
 */
typedef struct Secrets {
        GPtrArray *variables; /* of char*: NAME=VALUE; NULL: there are no secrets */
        GPtrArray *files;     /* of SecretFile */
        int mount;            /* detached; -1: there are no files */
        char *place;          /* where to mount it: an empty directory that others cannot enter */
        MountLabel label;     /* SELinux's */
} Secrets;

#define SECRETS_NULL ((Secrets) { .mount = -1 })

/* Find all secrets of the request. Nothing is done where there are none. directory: for the mount point; it belongs
 * to root alone. label: SELinux's, of the files, or NULL; it must stay. Errors name the secret, never a value. */
bool secrets_find(const ContainerRequest *request, const char *directory, const char *label, Secrets *ret,
                  GError **error);

/* The ids of their owners are the container's: make them those that the host has for them. */
bool secrets_give(const Secrets *secrets, const UserNamespace *userns, GError **error);

/* The same for showing what would be: no secret is looked for, and all values are "(secret)". */
void secrets_pretend(const ContainerRequest *request, Secrets *ret);

void secrets_clear(Secrets *secrets);
