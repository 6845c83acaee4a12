/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yajl/yajl_parse.h>

#include "libstart/base/error.h"
#include "libstart/json/check.h"
#include "libstart/json/keys.h"
#include "libstart/json/visit.h"

#define DEPTH_MAX 64

/* What yajl expects of a callback. */
enum {
        STOP,
        GO_ON,
};

typedef struct Level {
        size_t length; /* of the path of the object or array */
        bool is_array;
        size_t begin; /* of an array's elements */
} Level;

typedef struct Reader {
        const JsonVisitor *visitor;
        void *data;
        yajl_handle handle;
        JsonKeys keys;
        GString *path;
        Level levels[DEPTH_MAX];
        unsigned depth;
        unsigned depth_of_end; /* the reading ends where an object or array ends and leaves it at this depth */
        bool ended;
        GError *error;
} Reader;

/* Makes the path that of the next value, which in an object its key has already done. */
static void enter_element(Reader *reader) {
        if (reader->depth == 0 || !reader->levels[reader->depth - 1].is_array)
                return;
        g_string_truncate(reader->path, reader->levels[reader->depth - 1].length);
        g_string_append(reader->path, "[]");
}

static int begin(Reader *reader, bool is_array) {
        enter_element(reader);
        if (reader->depth == DEPTH_MAX) {
                error_set(&reader->error, KT_ERROR_FAILED, "it is nested too deeply");
                return STOP;
        }
        reader->levels[reader->depth++] = (Level) {
                .length = reader->path->len,
                .is_array = is_array,
                .begin = yajl_get_bytes_consumed(reader->handle),
        };
        if (is_array)
                return GO_ON;
        if (!reader->visitor->is_checked)
                json_keys_begin(&reader->keys);
        if (!reader->visitor->object)
                return GO_ON;
        return reader->visitor->object(reader->path->str, reader->data, &reader->error) ? GO_ON : STOP;
}

static int on_start_object(void *context) {
        return begin(context, false);
}

static int on_start_array(void *context) {
        return begin(context, true);
}

static int on_end(void *context) {
        Reader *reader = context;
        const Level *level = &reader->levels[--reader->depth];

        if (level->is_array && reader->visitor->array) {
                size_t end = yajl_get_bytes_consumed(reader->handle) - strlen("]");

                g_string_truncate(reader->path, level->length);
                reader->visitor->array(reader->path->str, (TextRange) { level->begin, end }, reader->data);
        }
        if (!level->is_array && !reader->visitor->is_checked && !json_keys_end(&reader->keys, &reader->error))
                return STOP;
        reader->ended = reader->depth == reader->depth_of_end;
        return reader->ended && reader->depth > 0 ? STOP : GO_ON;
}

/* A key with what is between the parts of a path, or with a NUL, would look like another path: "rootfs.type" like
 * "type" of "rootfs". */
static int on_key(void *context, const unsigned char *key, size_t length) {
        Reader *reader = context;

        g_string_truncate(reader->path, reader->levels[reader->depth - 1].length);
        if (reader->path->len > 0)
                g_string_append_c(reader->path, '.');
        for (size_t i = 0; i < length; i++)
                g_string_append_c(reader->path, strchr(".[", key[i]) ? '?' : (char) key[i]);
        return reader->visitor->is_checked ||
                               json_keys_add(&reader->keys, (const char *) key, length, &reader->error) ?
                       GO_ON :
                       STOP;
}

static int on_string(void *context, const unsigned char *value, size_t length) {
        Reader *reader = context;

        if (!reader->visitor->string)
                return GO_ON;
        enter_element(reader);
        if (memchr(value, '\0', length)) {
                error_set(&reader->error, KT_ERROR_FAILED, "'%s' contains a NUL character", reader->path->str);
                return STOP;
        }
        return reader->visitor->string(reader->path->str, (const char *) value, length, reader->data,
                                       &reader->error) ?
                       GO_ON :
                       STOP;
}

static const yajl_callbacks callbacks = {
        .yajl_string = on_string,
        .yajl_start_map = on_start_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_start_array,
        .yajl_end_array = on_end,
};

static void set_parse_error(yajl_handle handle, GError **error) {
        size_t position = yajl_get_bytes_consumed(handle);
        unsigned char *text = yajl_get_error(handle, 0, NULL, 0);

        error_set(error, KT_ERROR_FAILED, "it is no valid JSON: %s (at byte %zu)", g_strchomp((char *) text),
                  position);
        yajl_free_error(handle, text);
}

/* prefix: of the document, when text is not its beginning; or NULL. */
static bool visit(Reader *reader, const char *prefix, const char *text, size_t length, size_t *ret_consumed,
                  GError **error) {
        g_autoptr(GString) path = reader->path = g_string_new(NULL);
        yajl_status status = yajl_status_ok;
        yajl_handle handle;

        if (!json_check_escapes(text, length, error))
                return false;
        json_keys_init(&reader->keys, reader->visitor->names);
        handle = reader->handle = yajl_alloc(&callbacks, NULL, reader);

        if (prefix)
                status = yajl_parse(handle, (const unsigned char *) prefix, strlen(prefix));
        if (status == yajl_status_ok)
                status = yajl_parse(handle, (const unsigned char *) text, length);
        *ret_consumed = yajl_get_bytes_consumed(handle);
        if (status == yajl_status_ok)
                status = yajl_complete_parse(handle);
        if (status == yajl_status_client_canceled && !reader->error)
                status = yajl_status_ok;
        if (reader->error)
                g_propagate_error(error, reader->error);
        else if (status != yajl_status_ok)
                set_parse_error(handle, error);
        yajl_free(handle);
        json_keys_clear(&reader->keys);
        return status == yajl_status_ok;
}

bool json_visit(const char *text, size_t length, const JsonVisitor *visitor, void *data, GError **error) {
        Reader reader = { .visitor = visitor, .data = data };
        size_t consumed;

        return visit(&reader, NULL, text, length, &consumed, error);
}

bool json_visit_element(const char *text, size_t length, const JsonVisitor *visitor, void *data, size_t *ret_length,
                        GError **error) {
        Reader reader = { .visitor = visitor, .data = data, .depth_of_end = 1 };

        return visit(&reader, "[", text, length, ret_length, error);
}
