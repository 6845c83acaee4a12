/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Networks as containers refer to them by the .network file that says what they are. What makes one is a service of
 * its own. */

/* The network that NAME.network[:OPTIONS] means, with these options: a value for network_request_parse().
 * *ret_service is the service that makes it. Transfer full. */
char *network_refer(Conversion *container, const char *value, char **ret_service, GError **error);

/* NetworkName=, or the name that Podman gives it. Transfer full. */
char *network_file_name(const SourceFile *source);
