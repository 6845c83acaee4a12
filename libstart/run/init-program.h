/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/request/request.h"

/* The host's program that is to be the payload's init (--init): as it is named, which whoever mounts it checks like
 * any source; or catatonit. NULL with an error where there is none. Transfer full. */
char *init_program_find(const ContainerRequest *request, GError **error);
