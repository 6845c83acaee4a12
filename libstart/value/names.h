/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What may be a name. The names become words of files and parts of paths. */

/* One character or more: ASCII letters, digits and `others`. */
bool name_is_made_of(const char *value, const char *others);

/* Can it be one of a host? sethostname(2) takes 64 bytes. The name also stands in /etc/hosts, between blanks. */
bool name_is_host(const char *value);

/* The unit that makes something ahead of the service STEM.service: keyturn-KIND@STEM.service, or where that is an
 * instance, keyturn-KIND-STEM.service (generator/unit/own-name.h). Transfer full. */
char *name_ahead_unit(const char *kind, const char *stem);

bool name_check_container(const char *value, GError **error);
bool name_check_volume(const char *value, GError **error);
bool name_check_network(const char *value, GError **error); /* podman's rule */
bool name_check_host(const char *value, GError **error);
bool name_check_interface(const char *value, GError **error);
bool name_check_time_zone(const char *value, GError **error); /* of zoneinfo, or "local" */
