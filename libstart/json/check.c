/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/check.h"

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
                else if (code == 0)
                        return error_set(error, KT_ERROR_FAILED, "it has a NUL inside a string (at byte %zu)",
                                         (size_t) (p - text));
                else if (is_high_surrogate(code) || is_low_surrogate(code))
                        return error_set(error, KT_ERROR_FAILED, "it has half of a surrogate pair (at byte %zu)",
                                         (size_t) (p - text));
        }
        return true;
}

static bool check_depth(const char *text, gsize length, guint max_depth, GError **error) {
        guint depth = 0;
        bool quoted = false;

        for (gsize i = 0; i < length; i++) {
                if (quoted && text[i] == '\\')
                        i++;
                else if (text[i] == '"')
                        quoted = !quoted;
                else if (!quoted && (text[i] == '{' || text[i] == '[') && ++depth > max_depth)
                        return error_set(error, KT_ERROR_FAILED, "nested more than %u levels deep", max_depth);
                else if (!quoted && (text[i] == '}' || text[i] == ']') && depth > 0)
                        depth--;
        }
        return true;
}

bool json_check(const char *text, gsize length, guint max_depth, GError **error) {
        return json_check_escapes(text, length, error) && check_depth(text, length, max_depth, error);
}
