/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/json/emit.h"

yajl_gen json_emit_new(bool beautify) {
        yajl_gen gen = yajl_gen_alloc(NULL);

        yajl_gen_config(gen, yajl_gen_beautify, (int) beautify);
        return gen;
}

char *json_emit_finish(yajl_gen gen) {
        const unsigned char *text = NULL;
        size_t length = 0;
        char *copy;

        yajl_gen_get_buf(gen, &text, &length);
        copy = g_strndup((const char *) text, length);
        yajl_gen_free(gen);
        return copy;
}

void json_emit_string(yajl_gen gen, const char *text) {
        yajl_gen_string(gen, (const unsigned char *) text, strlen(text));
}

void json_emit_key_string(yajl_gen gen, const char *key, const char *text) {
        json_emit_string(gen, key);
        json_emit_string(gen, text);
}

void json_emit_key_bool(yajl_gen gen, const char *key, bool value) {
        json_emit_string(gen, key);
        yajl_gen_bool(gen, value);
}

void json_emit_key_number(yajl_gen gen, const char *key, guint64 number) {
        json_emit_string(gen, key);
        yajl_gen_integer(gen, (long long) number);
}

static void emit_object(yajl_gen gen, yajl_val value) {
        yajl_gen_map_open(gen);
        for (size_t i = 0; i < value->u.object.len; i++) {
                json_emit_string(gen, value->u.object.keys[i]);
                json_emit_value(gen, value->u.object.values[i]);
        }
        yajl_gen_map_close(gen);
}

static void emit_array(yajl_gen gen, yajl_val value) {
        yajl_gen_array_open(gen);
        for (size_t i = 0; i < value->u.array.len; i++)
                json_emit_value(gen, value->u.array.values[i]);
        yajl_gen_array_close(gen);
}

void json_emit_value(yajl_gen gen, yajl_val value) {
        if (YAJL_IS_OBJECT(value))
                emit_object(gen, value);
        else if (YAJL_IS_ARRAY(value))
                emit_array(gen, value);
        else if (YAJL_IS_STRING(value))
                json_emit_string(gen, YAJL_GET_STRING(value));
        else if (YAJL_IS_NUMBER(value))
                yajl_gen_number(gen, YAJL_GET_NUMBER(value), strlen(YAJL_GET_NUMBER(value)));
        else if (YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value))
                yajl_gen_bool(gen, YAJL_IS_TRUE(value));
        else
                yajl_gen_null(gen);
}
