/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* Store= of [Keyturn]: whose images are looked for first. */
bool handle_store(Conversion *container, const Key *key, const Value *value, GError **error);

/* User= and Group= of [Service] say whom the container belongs to: libstart starts it as root, in that user's name.
 * With DynamicUser= it belongs to nobody.
 * To be called before what asks for the user namespace. */
void owner_finish(Conversion *container);

/* The same of a service that cannot belong to anybody but root. */
void owner_refuse(Conversion *container, const char *advice);
