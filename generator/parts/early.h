/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_early;

/* [Keyturn] Early=yes: what the [Unit] of a service that starts before basic.target needs. Called when
 * container->args is complete. */
void early_unit(Container *container);

/* The unit that wants the service at boot where [Install] names none. NULL unless Early=yes. */
const char *early_wanted_by(const Container *container);
