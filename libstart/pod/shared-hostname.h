/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The host name of the UTS namespace that a file is. Transfer full; NULL on errors. */
char *shared_hostname_read(const char *path, GError **error);
