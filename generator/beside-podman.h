/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/container.h"
#include "generator/tree.h"

/* Living beside Podman, whose generator reads the same files (design: keyturn-generator(8), BESIDE PODMAN).
 * */

/* Will systemd run Podman's generator? It is installed, executable and not masked. */
bool beside_podman_is_active(const Tree *tree);

/* Does the file ask for keyturn by a [Keyturn] section? Then it is keyturn's, for better or worse. */
bool beside_podman_is_ours(const SourceFile *source);

/* Why a file without that section stays with Podman, or NULL where its meaning is kept exactly. Transfer
 * full. */
char *beside_podman_reason(const Container *container);

/* The administrator's unit or mask of that name, which a unit in the early directory must not override.
 * Transfer full, NULL where there is none. */
char *beside_podman_override(const Tree *tree, const char *service);
