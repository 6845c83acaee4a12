/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yaml.h>

#include "libstart/base/error.h"
#include "libstart/cdi-yaml/cdi-yaml.h"
#include "libstart/json/emit.h"

#define DEPTH_MAX 16
#define KEY_MAX 64

/* What is open at one depth. */
typedef struct Level {
        bool is_map;
        bool has_key;      /* of a map: the next one is its value */
        char key[KEY_MAX]; /* of a map: the last one; of a list: that of the list */
} Level;

typedef struct Conversion {
        yaml_parser_t parser;
        yajl_gen gen;
        Level levels[DEPTH_MAX];
        guint depth;
        guint documents;
} Conversion;

static bool fail(const yaml_event_t *event, const char *what, GError **error) {
        return error_set(error, KT_ERROR_FAILED, "line %zu: %s", event->start_mark.line + 1, what);
}

static Level *top(Conversion *conversion) {
        return conversion->depth > 0 ? &conversion->levels[conversion->depth - 1] : NULL;
}

/* The key whose value comes, also where that is one of a list. */
static const char *current_key(Conversion *conversion) {
        const Level *level = top(conversion);

        return level ? level->key : "";
}

static bool is_number(const char *key) {
        static const char *const numbers[] = {
                "major", "minor", "fileMode", "uid", "gid", "timeout", "additionalGids", NULL,
        };

        return g_strv_contains(numbers, key);
}

/* As YAML 1.1 has it, "010" is eight, which Podman reads, too; "0o10" is the same of YAML 1.2. */
static bool parse_number(const char *text, guint64 *ret) {
        bool is_octal = g_str_has_prefix(text, "0o");
        char *end;

        if (!g_ascii_isdigit(text[0]))
                return false;
        *ret = g_ascii_strtoull(is_octal ? text + 2 : text, &end, is_octal ? 8 : 0);
        return *end == '\0' && end != text;
}

static bool is_null(const yaml_event_t *event, const char *text) {
        return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
               (!text[0] || g_str_equal(text, "~") || g_ascii_strcasecmp(text, "null") == 0);
}

/* A key is written when its value is known not to be null. */
static void write_key(Conversion *conversion) {
        Level *level = top(conversion);

        if (level && level->is_map) {
                json_emit_string(conversion->gen, level->key);
                level->has_key = false;
        }
}

static bool take_key(Level *level, const yaml_event_t *event, const char *text, GError **error) {
        if (strlen(text) >= KEY_MAX)
                return fail(event, "a key is too long", error);
        g_strlcpy(level->key, text, sizeof level->key);
        level->has_key = true;
        return true;
}

static bool take_scalar(Conversion *conversion, const yaml_event_t *event, GError **error) {
        const char *text = (const char *) event->data.scalar.value;
        Level *level = top(conversion);
        guint64 number;

        if (strlen(text) != event->data.scalar.length)
                return fail(event, "a zero byte is in a text", error);
        if (!level)
                return fail(event, "there is no map", error);
        if (level->is_map && !level->has_key)
                return take_key(level, event, text, error);
        if (is_null(event, text)) {
                level->has_key = false;
                return true;
        }
        write_key(conversion);
        if (is_number(level->key) && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
            parse_number(text, &number))
                return yajl_gen_integer(conversion->gen, (long long) MIN(number, G_MAXINT64)) == yajl_gen_status_ok;
        json_emit_string(conversion->gen, text);
        return true;
}

static bool begin(Conversion *conversion, const yaml_event_t *event, bool is_map, GError **error) {
        const char *key = current_key(conversion);
        Level *level = top(conversion);

        if (conversion->depth == DEPTH_MAX)
                return fail(event, "too many maps and lists inside each other", error);
        if (level && level->is_map && !level->has_key)
                return fail(event, "a key is no text", error);
        write_key(conversion);
        level = &conversion->levels[conversion->depth++];
        *level = (Level) { .is_map = is_map };
        g_strlcpy(level->key, is_map ? "" : key, sizeof level->key);
        if (is_map)
                yajl_gen_map_open(conversion->gen);
        else
                yajl_gen_array_open(conversion->gen);
        return true;
}

static bool end(Conversion *conversion) {
        bool is_map = top(conversion)->is_map;

        conversion->depth--;
        if (is_map)
                yajl_gen_map_close(conversion->gen);
        else
                yajl_gen_array_close(conversion->gen);
        return true;
}

static bool has_tag(const yaml_event_t *event) {
        switch (event->type) {
        case YAML_SCALAR_EVENT:
                return event->data.scalar.tag || event->data.scalar.anchor;
        case YAML_MAPPING_START_EVENT:
                return event->data.mapping_start.tag || event->data.mapping_start.anchor;
        case YAML_SEQUENCE_START_EVENT:
                return event->data.sequence_start.tag || event->data.sequence_start.anchor;
        default:
                return event->type == YAML_ALIAS_EVENT;
        }
}

static bool take(Conversion *conversion, const yaml_event_t *event, GError **error) {
        if (has_tag(event))
                return fail(event, "anchors, aliases and tags are not supported: write the values out", error);
        switch (event->type) {
        case YAML_DOCUMENT_START_EVENT:
                return conversion->documents++ == 0 || fail(event, "there is a second document", error);
        case YAML_SCALAR_EVENT:
                return take_scalar(conversion, event, error);
        case YAML_MAPPING_START_EVENT:
        case YAML_SEQUENCE_START_EVENT:
                return begin(conversion, event, event->type == YAML_MAPPING_START_EVENT, error);
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT:
                return end(conversion);
        default:
                return true;
        }
}

static bool convert(Conversion *conversion, GError **error) {
        bool ok = true, ended = false;

        while (ok && !ended) {
                yaml_event_t event;

                if (!yaml_parser_parse(&conversion->parser, &event))
                        return error_set(error, KT_ERROR_FAILED, "line %zu: %s",
                                         conversion->parser.problem_mark.line + 1,
                                         conversion->parser.problem ?: "no YAML");
                ok = take(conversion, &event, error);
                ended = event.type == YAML_STREAM_END_EVENT;
                yaml_event_delete(&event);
        }
        return ok && (conversion->documents > 0 || error_set(error, KT_ERROR_FAILED, "it is empty"));
}

char *cdi_yaml_to_json(const char *text, gsize length, GError **error) {
        Conversion conversion = { .gen = json_emit_new(false) };
        g_autofree char *json = NULL;
        bool ok;

        if (!yaml_parser_initialize(&conversion.parser))
                g_error("out of memory");
        yaml_parser_set_encoding(&conversion.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&conversion.parser, (const unsigned char *) text, length);
        ok = convert(&conversion, error);
        yaml_parser_delete(&conversion.parser);
        json = json_emit_finish(conversion.gen);
        return ok ? g_steal_pointer(&json) : NULL;
}
