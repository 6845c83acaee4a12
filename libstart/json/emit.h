/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

/* Writing JSON with yajl. */

/* beautify: over several lines, for people. */
yajl_gen json_emit_new(bool beautify);

/* What has been written; frees the generator. Transfer full. */
char *json_emit_finish(yajl_gen gen);

void json_emit_string(yajl_gen gen, const char *text);
void json_emit_key_string(yajl_gen gen, const char *key, const char *text);
void json_emit_key_bool(yajl_gen gen, const char *key, bool value);
void json_emit_key_number(yajl_gen gen, const char *key, guint64 number);

/* What was read, as it was. */
void json_emit_value(yajl_gen gen, yajl_val value);
