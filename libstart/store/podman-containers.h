/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/store-conf.h"

/* The id of Podman's container of that name, or with that whole id, as containers-storage notes it in the stores that
 * Podman writes to. *ret is NULL where there is none; a list that cannot be read is KT_ERROR_FAILED. Transfer full.
 */
bool podman_container_find(const StoreConf *conf, const char *name, char **ret, GError **error);

/* The same from the text of a containers.json. Pure. */
bool podman_container_parse(const char *text, size_t length, const char *name, char **ret, GError **error);
