/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The value of a secret, from where it is first found: among the credentials that systemd gave this service
 * ($CREDENTIALS_DIRECTORY, systemd.exec(5)), else among Podman's secrets. KT_ERROR_NOT_FOUND, with what to do, if it
 * is in neither. Transfer full; release it with secret_value_free(). */
bool secret_value_find(const char *name, char **ret_value, gsize *ret_length, GError **error);
