/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "libstart/json/member.h"

yajl_val json_member(yajl_val object, const char *key, yajl_type type) {
        const char *path[] = { key, NULL };

        return yajl_tree_get(object, path, type);
}

const char *json_member_string(yajl_val object, const char *key) {
        yajl_val string = json_member(object, key, yajl_t_string);

        return string ? YAJL_GET_STRING(string) : "";
}
