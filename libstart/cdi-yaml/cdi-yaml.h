/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The JSON of a file of CDI that is written in YAML, within the limits of yaml/tree.h; further documents are refused.
 * What is to be a number in a file of CDI becomes one, all else a string, as for Podman; what is null is left out.
 * Pure. Transfer full; KT_ERROR_FAILED, with line and column. */
char *cdi_yaml_to_json(const char *text, gsize length, GError **error);
