/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_early;

/* [Keyturn] Early=yes: what the [Unit] of a service that starts before basic.target needs. Called when
 * container->args is complete. */
void early_unit(Conversion *container);

/* Of that the order alone, before basic.target and at shutdown, which is all that a pod needs. */
void early_order_before_basic(Conversion *conversion);

/* The unit that wants the service at boot where [Install] names none. NULL unless Early=yes. */
const char *early_wanted_by(const Conversion *container);
