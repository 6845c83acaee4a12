/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yajl/yajl_parse.h>

#include "libstart/base/error.h"
#include "libstart/json/check.h"
#include "libstart/json/keys.h"

#define ESCAPE_LENGTH 6 /* of "\uXXXX" */

/* The code of a "\uXXXX" at p; -1 if there is none. */
static int read_escape(const char *p, const char *end) {
        int code = 0;

        if (end - p < ESCAPE_LENGTH || p[0] != '\\' || p[1] != 'u')
                return -1;
        for (int i = 2; i < ESCAPE_LENGTH; i++) {
                int digit = g_ascii_xdigit_value(p[i]);

                if (digit < 0)
                        return -1;
                code = code << 4 | digit;
        }
        return code;
}

static bool is_high_surrogate(int code) {
        return code >= 0xd800 && code < 0xdc00;
}

static bool is_low_surrogate(int code) {
        return code >= 0xdc00 && code < 0xe000;
}

bool json_check_escapes(const char *text, gsize length, GError **error) {
        const char *end = text + length;
        gsize n;

        for (const char *p = text; p < end && (p = memchr(p, '\\', (gsize) (end - p))); p += n) {
                int code = read_escape(p, end);

                n = code < 0 ? 2 : ESCAPE_LENGTH;
                if (is_high_surrogate(code) && is_low_surrogate(read_escape(p + ESCAPE_LENGTH, end)))
                        n = 2 * ESCAPE_LENGTH;
                else if (is_high_surrogate(code) || is_low_surrogate(code))
                        return error_set(error, KT_ERROR_FAILED, "it has half of a surrogate pair (at byte %zu)",
                                         (size_t) (p - text));
        }
        return true;
}

typedef struct Check {
        JsonKeys keys;
        guint depth, depth_max;
        GError *error;
} Check;

static int go_deeper(Check *check) {
        return ++check->depth <= check->depth_max ||
               error_set(&check->error, KT_ERROR_FAILED, "nested more than %u levels deep", check->depth_max);
}

static int on_start_object(void *context) {
        Check *check = context;

        json_keys_begin(&check->keys);
        return go_deeper(check);
}

static int on_key(void *context, const unsigned char *key, size_t length) {
        Check *check = context;

        return json_keys_add(&check->keys, (const char *) key, length, &check->error);
}

static int on_end_object(void *context) {
        Check *check = context;

        check->depth--;
        return json_keys_end(&check->keys, &check->error);
}

static int on_start_array(void *context) {
        return go_deeper(context);
}

static int on_end_array(void *context) {
        Check *check = context;

        check->depth--;
        return true;
}

bool json_check(const char *text, gsize length, const JsonLimits *limits, GError **error) {
        static const yajl_callbacks callbacks = {
                .yajl_start_map = on_start_object,
                .yajl_map_key = on_key,
                .yajl_end_map = on_end_object,
                .yajl_start_array = on_start_array,
                .yajl_end_array = on_end_array,
        };
        Check check = { .depth_max = limits->depth };
        yajl_handle handle;

        if (!json_check_escapes(text, length, error))
                return false;
        json_keys_init(&check.keys, limits->names);
        check.keys.is_map = limits->is_map;
        handle = yajl_alloc(&callbacks, NULL, &check);
        (void) yajl_config(handle, yajl_allow_comments, 1); /* as yajl's tree has it */
        (void) yajl_parse(handle, (const unsigned char *) text, length);
        yajl_free(handle);
        json_keys_clear(&check.keys);
        if (check.error)
                g_propagate_error(error, check.error);
        return !check.error;
}
