/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/tree.h"
#include "generator/unit/conversion.h"

/* Have systemd give the service each secret as a credential, should there be one of that name: libstart looks for it
 * there first. Names only, no values. To be called when all options are known. */
void secrets_service(Conversion *container, const Tree *tree);

/* Add the names of the machine's encrypted credentials, which decide how a unit loads a secret. */
void secrets_add_stores(const Tree *tree, GChecksum *checksum);
