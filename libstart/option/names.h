/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What may be a name. The names become words of files and parts of paths. */

/* One character or more: ASCII letters, digits and `others`. */
bool name_is_made_of(const char *value, const char *others);

bool name_check_container(const char *value, GError **error); /* podman's rule */
bool name_check_volume(const char *value, GError **error);    /* the same */
bool name_check_host(const char *value, GError **error);
bool name_check_time_zone(const char *value, GError **error); /* of zoneinfo, or "local" */
