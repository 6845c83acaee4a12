/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/tree.h"
#include "generator/unit/container.h"

/* Podman's generator reads the same files: keyturn-generator(8), BESIDE PODMAN, says who takes which. */

/* Does the file have a [Keyturn] section? Then keyturn takes it, even where it must refuse it. */
bool beside_podman_is_ours(const SourceFile *source);

/* Why a file without that section is left to Podman. NULL where keyturn gives it exactly the meaning that Podman
 * does. Transfer full. */
char *beside_podman_reason(const Container *container);

/* The path of the administrator's own unit (or mask) of that name, which a unit in the early directory would
 * override. NULL where there is none. Transfer full. */
char *beside_podman_override(const Tree *tree, const char *service);
