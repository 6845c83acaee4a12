/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* Volume= and Mount=. */
KeyHandler handle_volume, handle_mount;

/* Fill in container->sources: the root directory, volumes, then mounts. Called when container->args has them all. */
void mounts_find_sources(Conversion *container);

/* Add one. Takes ownership of path. */
void mounts_add_source(Conversion *container, char *path, bool writable);

/* Add the source of one --volume to these, as what is run for a build has it. */
void mounts_add_volume(Conversion *container, const char *volume);

/* The unit requires the mounts that these are on. */
void mounts_require(Conversion *container);
