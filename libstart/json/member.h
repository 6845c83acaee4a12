/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <yajl/yajl_tree.h>

/* One member of an object in yajl's tree. For what other programs of the machine have written, and only some of which
 * is of interest; what must be understood whole is walked through (walk.h). Borrowed. */

/* NULL where `object` is none, or has no such member of that type. The case of the key does not matter, as in Go. */
yajl_val json_member(yajl_val object, const char *key, yajl_type type);

/* The same of an object whose keys are names: their case matters. */
yajl_val json_map_value(yajl_val map, const char *name, yajl_type type);

/* The same; "" where there is no such string. */
const char *json_member_string(yajl_val object, const char *key);
