/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

/* Every key of [Container], [Quadlet] and [Keyturn], and what it does. */
extern const KeyTable keys_container, keys_quadlet, keys_keyturn;

/* Complete what several keys say together: Image= and Rootfs=, User= and Group=, and PodmanArgs= on top of all.
 * Called after the keys have been applied. */
void keys_container_finish(Container *container);
