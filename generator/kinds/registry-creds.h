/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"
#include "generator/unit/key.h"

/* Creds=, the user and password of a registry, in .image and .artifact files. */

KeyHandler handle_creds;

/* After all keys. `key` is the one that names the registry: Image, Artifact. */
void registry_creds_check(Conversion *container, const char *key);

/* The text of an authentication file (containers-auth.json(5)) with them, or NULL where there are none. Transfer
 * full. */
GString *registry_creds_file(const Conversion *container);
