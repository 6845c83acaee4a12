/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/keys.h"

/* Every key of [Pod], and those of [Keyturn] that a pod can have. */
extern const KeyTable keys_pod, keys_keyturn_pod;
