/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/config/conf-files.h"
#include "libstart/config/toml.h"

/* One value of a file that has many. */
extern const ConfFiles conf_containers, conf_storage;

/* What the last file says for `key` of [table]: *ret is NULL where none does. A value of another type is an error,
 * and so is a file that is no TOML; one that does not have the word is not looked into. Transfer full. */
bool conf_value_read_string(const ConfFiles *files, const char *root, const char *table, const char *key, char **ret,
                            GError **error);

/* The same of a boolean; *ret stays as it is where no file says it. */
bool conf_value_read_boolean(const ConfFiles *files, const char *root, const char *table, const char *key, bool *ret,
                             GError **error);
