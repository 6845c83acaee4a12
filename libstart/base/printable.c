/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"

static bool is_plain(gunichar c) {
        GUnicodeType type;

        if (c < 0x80)
                return c >= ' ' && c < 0x7f;
        type = g_unichar_type(c);
        return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

static void append_escaped(GString *result, gunichar c) {
        if (c == '\n')
                g_string_append(result, "\\n");
        else if (c == '\t')
                g_string_append(result, "\\t");
        else
                g_string_append_printf(result, c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

static char *escape(const char *text, const char *also_plain) {
        GString *result = g_string_new(NULL);

        while (*text) {
                gunichar c = g_utf8_get_char_validated(text, -1);
                const char *next = g_utf8_next_char(text);

                if (c == (gunichar) -1 || c == (gunichar) -2) {
                        g_string_append_printf(result, "\\x%02x", (guchar) *text);
                        next = text + 1;
                } else if (is_plain(c) || (c < 0x80 && strchr(also_plain, (int) c))) {
                        g_string_append_len(result, text, next - text);
                } else {
                        append_escaped(result, c);
                }
                text = next;
        }
        return g_string_free(result, FALSE);
}

char *printable(const char *text) {
        return escape(text, "");
}

char *printable_lines(const char *text) {
        return escape(text, "\n\t");
}

/* Outside of strings a document has nothing that is to be escaped, but line breaks; inside, no line breaks. */
char *printable_json(const char *json) {
        GString *result = g_string_new(NULL);

        for (const char *p = json; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c == '\n' || is_plain(c))
                        g_string_append_unichar(result, c);
                else if (c < 0x10000)
                        g_string_append_printf(result, "\\u%04x", c);
                else
                        g_string_append_printf(result, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
        }
        return g_string_free(result, FALSE);
}

void printable_print(const char *format, ...) {
        g_autofree char *text = NULL, *shown = NULL;
        va_list ap;

        va_start(ap, format);
        text = g_strdup_vprintf(format, ap);
        va_end(ap);
        shown = printable_lines(text);
        fputs(shown, stdout);
}

bool printable_flush(GError **error) {
        errno = EIO;
        if (fflush(stdout) == 0 && !ferror(stdout))
                return true;
        /* Of an earlier write that failed nobody has kept the reason. The next one fails by the same. */
        if (errno == EIO && write(STDOUT_FILENO, "\n", 1) >= 0)
                errno = EIO;
        clearerr(stdout); /* it is said once */
        return error_set_errno(error, errno, "Cannot write to standard output");
}
