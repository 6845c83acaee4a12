/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

bool handle_early(Container *container, const Key *key, const Value *value, GError **error);

/* [Keyturn] Early=yes: what a service that is started before basic.target has in [Unit] besides. After container->args
 * is complete. */
void early_unit(Container *container);

/* Which unit wants it at boot where [Install] does not say. NULL unless Early=yes. */
const char *early_wanted_by(const Container *container);
