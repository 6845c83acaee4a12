/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/toml.h"

/* Arrays and inline tables inside each other; the parser recurses once per level. Tables can also be inside each
 * other by their dotted keys: whoever frees them recurses, too. */
#define DEPTH_MAX 32

typedef struct Parser {
        const char *p;
        const char *end;
        const char *name;
        unsigned line;
        unsigned depth;
} Parser;

static TomlValue *parse_value(Parser *parser, GError **error);

static bool fail(const Parser *parser, GError **error, const char *what) {
        return error_set(error, KT_ERROR_FAILED, "%s:%u: %s", parser->name, parser->line, what);
}

void toml_free(TomlValue *value) {
        if (value->type == TOML_STRING || value->type == TOML_OTHER)
                g_free(value->string);
        else if (value->type == TOML_ARRAY)
                g_ptr_array_unref(value->array);
        else if (value->type == TOML_TABLE)
                g_hash_table_unref(value->table);
        g_free(value);
}

static TomlValue *new_value(const Parser *parser, TomlType type) {
        TomlValue *value = g_new0(TomlValue, 1);

        value->type = type;
        value->line = parser->line;
        if (type == TOML_ARRAY)
                value->array = g_ptr_array_new_with_free_func((GDestroyNotify) toml_free);
        else if (type == TOML_TABLE)
                value->table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) toml_free);
        return value;
}

const TomlValue *toml_get(const TomlValue *table, const char *key) {
        if (!table || table->type != TOML_TABLE)
                return NULL;
        return g_hash_table_lookup(table->table, key);
}

static char peek(const Parser *parser) {
        if (parser->p < parser->end)
                return *parser->p;
        return '\0';
}

static bool accept(Parser *parser, const char *string) {
        size_t length = strlen(string);
        bool found = (size_t) (parser->end - parser->p) >= length && memcmp(parser->p, string, length) == 0;

        parser->p += found ? length : 0;
        return found;
}

static bool accept_newline(Parser *parser) {
        if (!accept(parser, "\n") && !accept(parser, "\r\n"))
                return false;
        parser->line++;
        return true;
}

static void skip_blanks(Parser *parser) {
        while (peek(parser) == ' ' || peek(parser) == '\t')
                parser->p++;
}

static bool is_control(char c) {
        return ((unsigned char) c < 0x20 && c != '\t') || c == 0x7f;
}

/* The rest of a line: blanks and a comment. */
static bool skip_line_end(Parser *parser, GError **error) {
        skip_blanks(parser);
        if (peek(parser) == '#')
                while (parser->p < parser->end && !is_control(*parser->p))
                        parser->p++;
        if (parser->p == parser->end || accept_newline(parser))
                return true;
        return fail(parser, error, "expected the end of the line");
}

/* Blanks, comments and line ends, as they may stand between the elements of an array. */
static bool skip_space(Parser *parser, GError **error) {
        for (;;) {
                skip_blanks(parser);
                if (peek(parser) != '#' && peek(parser) != '\n' && peek(parser) != '\r')
                        return true;
                if (!skip_line_end(parser, error))
                        return false;
        }
}

static bool parse_unicode(Parser *parser, unsigned digits, GString *out, GError **error) {
        gunichar c = 0;

        for (unsigned i = 0; i < digits; i++) {
                int digit = g_ascii_xdigit_value(peek(parser));

                if (digit < 0)
                        return fail(parser, error, "wrong number of hexadecimal digits after '\\u' or '\\U'");
                c = (c << 4) | (gunichar) digit;
                parser->p++;
        }
        if (c == 0 || !g_unichar_validate(c))
                return fail(parser, error, "'\\u' or '\\U' names no character");
        g_string_append_unichar(out, c);
        return true;
}

/* In a multi-line string: a line end and the blank space after it that a backslash takes away. */
static bool accept_continuation(Parser *parser) {
        const char *start = parser->p;

        skip_blanks(parser);
        if (!accept_newline(parser)) {
                parser->p = start;
                return false;
        }
        do
                skip_blanks(parser);
        while (accept_newline(parser));
        return true;
}

static bool parse_escape(Parser *parser, bool multi_line, GString *out, GError **error) {
        static const char letters[] = "btnfr\"\\";
        static const char meanings[] = "\b\t\n\f\r\"\\";
        char c = peek(parser);
        const char *letter = c ? strchr(letters, c) : NULL;

        if (letter) {
                g_string_append_c(out, meanings[letter - letters]);
                parser->p++;
                return true;
        }
        if (accept(parser, "u"))
                return parse_unicode(parser, 4, out, error);
        if (accept(parser, "U"))
                return parse_unicode(parser, 8, out, error);
        if (multi_line && accept_continuation(parser))
                return true;
        return fail(parser, error, "unknown escape sequence in a string");
}

/* One character or escape sequence of a string. */
static bool parse_character(Parser *parser, char quote, bool multi_line, GString *out, GError **error) {
        if (parser->p == parser->end)
                return fail(parser, error, "the string is not closed");
        if (multi_line && accept_newline(parser)) {
                g_string_append_c(out, '\n');
                return true;
        }
        if (is_control(*parser->p))
                return fail(parser, error,
                            *parser->p == '\n' || *parser->p == '\r' ? "the string is not closed on its line" :
                                                                       "control character in a string");
        if (quote == '"' && accept(parser, "\\"))
                return parse_escape(parser, multi_line, out, error);
        g_string_append_c(out, *parser->p++);
        return true;
}

/* At an opening quote: "...", '...', or with multi_line allowed also their tripled forms. */
static char *parse_string(Parser *parser, bool allow_multi_line, GError **error) {
        g_autoptr(GString) out = g_string_new(NULL);
        char quote = *parser->p;
        char close[] = { quote, quote, quote, '\0' };
        bool multi_line = allow_multi_line && accept(parser, close);

        if (multi_line)
                (void) accept_newline(parser); /* one that follows the opening quotes is no part of it */
        else {
                close[1] = '\0';
                parser->p++;
        }
        while (!accept(parser, close))
                if (!parse_character(parser, quote, multi_line, out, error))
                        return NULL;
        /* Up to two quotes may stand right before the closing three. */
        for (int i = 0; multi_line && i < 2 && peek(parser) == quote; i++)
                g_string_append_c(out, *parser->p++);
        return g_string_free(g_steal_pointer(&out), FALSE);
}

static bool is_bare(char c) {
        return g_ascii_isalnum(c) || c == '_' || c == '-';
}

static char *parse_key(Parser *parser, GError **error) {
        const char *start = parser->p;

        if (peek(parser) == '"' || peek(parser) == '\'')
                return parse_string(parser, false, error);
        while (is_bare(peek(parser)))
                parser->p++;
        if (parser->p == start) {
                fail(parser, error, "expected a key");
                return NULL;
        }
        return g_strndup(start, (size_t) (parser->p - start));
}

/* a.b."c d" */
static GPtrArray *parse_dotted_key(Parser *parser, GError **error) {
        g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);

        do {
                skip_blanks(parser);
                char *key = parse_key(parser, error);
                if (!key)
                        return NULL;
                g_ptr_array_add(keys, key);
                if (keys->len > DEPTH_MAX) {
                        fail(parser, error, "the dotted key has too many parts");
                        return NULL;
                }
                skip_blanks(parser);
        } while (accept(parser, "."));
        return g_steal_pointer(&keys);
}

static bool fail_key(const Parser *parser, GError **error, const char *key, const TomlValue *earlier) {
        return error_set(error, KT_ERROR_FAILED, "%s:%u: '%s' is already defined on line %u", parser->name,
                         parser->line, key, earlier->line);
}

/* The table under a key, made if there is none; of an array of tables the last one. */
static TomlValue *enter(const Parser *parser, TomlValue *table, const char *key, GError **error) {
        TomlValue *value = g_hash_table_lookup(table->table, key);

        if (!value) {
                value = new_value(parser, TOML_TABLE);
                g_hash_table_insert(table->table, g_strdup(key), value);
                return value;
        }
        if (value->type == TOML_ARRAY && !value->closed)
                return g_ptr_array_index(value->array, value->array->len - 1);
        if (value->type == TOML_TABLE && !value->closed)
                return value;
        fail_key(parser, error, key, value);
        return NULL;
}

static TomlValue *enter_all_but_last(const Parser *parser, TomlValue *table, const GPtrArray *keys, GError **error) {
        for (unsigned i = 0; table && i + 1 < keys->len; i++)
                table = enter(parser, table, keys->pdata[i], error);
        return table;
}

/* key = value */
static bool parse_pair(Parser *parser, TomlValue *table, GError **error) {
        g_autoptr(GPtrArray) keys = parse_dotted_key(parser, error);
        if (!keys)
                return false;
        if (!accept(parser, "="))
                return fail(parser, error, "expected '=' after the key");
        skip_blanks(parser);

        TomlValue *parent = enter_all_but_last(parser, table, keys, error);
        if (!parent)
                return false;

        const char *key = keys->pdata[keys->len - 1];
        const TomlValue *earlier = toml_get(parent, key);
        if (earlier)
                return fail_key(parser, error, key, earlier);

        TomlValue *value = parse_value(parser, error);
        if (!value)
                return false;
        g_hash_table_insert(parent->table, g_strdup(key), value);
        return true;
}

static bool parse_elements(Parser *parser, TomlValue *array, GError **error) {
        for (;;) {
                if (!skip_space(parser, error))
                        return false;
                if (accept(parser, "]"))
                        return true;

                TomlValue *element = parse_value(parser, error);
                if (!element)
                        return false;
                g_ptr_array_add(array->array, element);

                if (!skip_space(parser, error))
                        return false;
                if (!accept(parser, ",") && peek(parser) != ']')
                        return fail(parser, error, "expected ',' or ']' in an array");
        }
}

static bool parse_inline_pairs(Parser *parser, TomlValue *table, GError **error) {
        skip_blanks(parser);
        if (accept(parser, "}"))
                return true;
        do {
                if (!parse_pair(parser, table, error))
                        return false;
                skip_blanks(parser);
        } while (accept(parser, ","));
        return accept(parser, "}") || fail(parser, error, "expected ',' or '}' in an inline table");
}

static void close_tables(TomlValue *value) {
        GHashTableIter iter;
        gpointer child;

        value->closed = true;
        if (value->type != TOML_TABLE)
                return;
        g_hash_table_iter_init(&iter, value->table);
        while (g_hash_table_iter_next(&iter, NULL, &child))
                close_tables(child);
}

static TomlValue *parse_nested(Parser *parser, TomlType type, GError **error) {
        g_autoptr(TomlValue) value = new_value(parser, type);

        if (parser->depth == DEPTH_MAX) {
                fail(parser, error, "arrays or tables are nested too deeply");
                return NULL;
        }
        parser->p++;
        parser->depth++;
        if (!(type == TOML_ARRAY ? parse_elements : parse_inline_pairs)(parser, value, error))
                return NULL;
        parser->depth--;
        close_tables(value);
        return g_steal_pointer(&value);
}

/* true, false, or a number or time, of which only the alphabet is checked. */
static TomlValue *parse_word(Parser *parser, GError **error) {
        const char *start = parser->p;

        while (g_ascii_isalnum(peek(parser)) || (peek(parser) && strchr("+-_.:", peek(parser))))
                parser->p++;

        g_autofree char *word = g_strndup(start, (size_t) (parser->p - start));
        const char *digits = word + strspn(word, "+-");
        if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
                TomlValue *value = new_value(parser, TOML_BOOLEAN);
                value->boolean = word[0] == 't';
                return value;
        }
        if (g_ascii_isdigit(*digits) || strcmp(digits, "inf") == 0 || strcmp(digits, "nan") == 0) {
                TomlValue *value = new_value(parser, TOML_OTHER);
                value->string = g_steal_pointer(&word);
                return value;
        }
        fail(parser, error, "expected a value: a string in quotes, true, false, a number, an array or a table");
        return NULL;
}

static TomlValue *parse_value(Parser *parser, GError **error) {
        switch (peek(parser)) {
        case '"':
        case '\'': {
                TomlValue *value = new_value(parser, TOML_STRING);

                value->string = parse_string(parser, true, error);
                if (!value->string)
                        g_clear_pointer(&value, toml_free);
                return value;
        }
        case '[':
                return parse_nested(parser, TOML_ARRAY, error);
        case '{':
                return parse_nested(parser, TOML_TABLE, error);
        default:
                return parse_word(parser, error);
        }
}

/* [[a.b]]: one more element of an array of tables. */
static TomlValue *append_table(const Parser *parser, TomlValue *parent, const char *key, GError **error) {
        TomlValue *array = g_hash_table_lookup(parent->table, key);

        if (array && (array->type != TOML_ARRAY || array->closed)) {
                fail_key(parser, error, key, array);
                return NULL;
        }
        if (!array) {
                array = new_value(parser, TOML_ARRAY);
                g_hash_table_insert(parent->table, g_strdup(key), array);
        }

        TomlValue *table = new_value(parser, TOML_TABLE);
        g_ptr_array_add(array->array, table);
        return table;
}

/* The table that the following lines belong to. headers: those that already had a [header] of their own. */
static TomlValue *parse_header(Parser *parser, TomlValue *top, GHashTable *headers, GError **error) {
        bool append = accept(parser, "[[");

        if (!append)
                parser->p++;

        g_autoptr(GPtrArray) keys = parse_dotted_key(parser, error);
        if (!keys)
                return NULL;
        if (!accept(parser, append ? "]]" : "]")) {
                fail(parser, error, append ? "expected ']]'" : "expected ']'");
                return NULL;
        }

        const char *key = keys->pdata[keys->len - 1];
        TomlValue *parent = enter_all_but_last(parser, top, keys, error);
        if (!parent)
                return NULL;
        if (append)
                return append_table(parser, parent, key, error);

        const TomlValue *earlier = toml_get(parent, key);
        if (earlier && (earlier->type == TOML_ARRAY || g_hash_table_contains(headers, earlier))) {
                fail_key(parser, error, key, earlier);
                return NULL;
        }
        TomlValue *table = enter(parser, parent, key, error);
        if (table)
                g_hash_table_add(headers, table);
        return table;
}

TomlValue *toml_parse(const char *text, size_t length, const char *name, GError **error) {
        Parser parser = { .p = text, .end = text + length, .name = name, .line = 1 };
        g_autoptr(TomlValue) top = new_value(&parser, TOML_TABLE);
        g_autoptr(GHashTable) headers = g_hash_table_new(NULL, NULL);
        TomlValue *table = top;

        if (!g_utf8_validate(text, (gssize) length, NULL))
                return error_null(error, KT_ERROR_FAILED, "%s: the file is not UTF-8 text", name);

        for (;;) {
                if (!skip_space(&parser, error))
                        return NULL;
                if (parser.p == parser.end)
                        return g_steal_pointer(&top);
                if (peek(&parser) == '[') {
                        table = parse_header(&parser, top, headers, error);
                        if (!table)
                                return NULL;
                } else if (!parse_pair(&parser, table, error))
                        return NULL;
                if (!skip_line_end(&parser, error))
                        return NULL;
        }
}
