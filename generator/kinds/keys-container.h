/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/keys.h"

/* Every key of [Container] and [Pod], and those of [Keyturn] that such a file can have. */
extern const KeyTable keys_container, keys_keyturn, keys_pod, keys_keyturn_pod;

/* Keys of other tables, too. */
KeyHandler handle_global_args, handle_podman_args;

/* Complete what several keys say together: Image= and Rootfs=, User= and Group=, VolatileTmp= and ReadOnly=. Called
 * after the keys have been applied. */
void keys_container_finish(Conversion *container);
