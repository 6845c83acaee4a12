/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "libstart/json/keys.h"
#include "libstart/json/member.h"

yajl_val json_map_value(yajl_val map, const char *name, yajl_type type) {
        const char *path[] = { name, NULL };

        return yajl_tree_get(map, path, type);
}

yajl_val json_member(yajl_val object, const char *key, yajl_type type) {
        for (size_t i = 0; YAJL_IS_OBJECT(object) && i < object->u.object.len; i++)
                if (json_key_equal(key, object->u.object.keys[i]))
                        return json_map_value(object, object->u.object.keys[i], type);
        return NULL;
}

const char *json_member_string(yajl_val object, const char *key) {
        yajl_val string = json_member(object, key, yajl_t_string);

        return string ? YAJL_GET_STRING(string) : "";
}
