/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/config/toml.h"
#include "tests/fuzz/fuzz.h"

static guint n_lines(const uint8_t *data, size_t size) {
        guint n = 1;

        for (size_t i = 0; i < size; i++)
                n += data[i] == '\n';
        return n;
}

static void check_value(const TomlValue *value, guint last_line) {
        GHashTableIter iter;
        void *key, *child;

        require(value->line >= 1 && value->line <= last_line, "a value in line %u of %u", value->line, last_line);
        switch (value->type) {
        case TOML_STRING:
                require(g_utf8_validate(value->string, -1, NULL), "a string that is not UTF-8");
                break;
        case TOML_ARRAY:
                for (guint i = 0; i < value->array->len; i++)
                        check_value(value->array->pdata[i], last_line);
                break;
        case TOML_TABLE:
                g_hash_table_iter_init(&iter, value->table);
                while (g_hash_table_iter_next(&iter, &key, &child)) {
                        require(toml_get(value, key) == child, "the key '%s' is not found", (char *) key);
                        check_value(child, last_line);
                }
                break;
        case TOML_BOOLEAN:
        case TOML_OTHER:
                break;
        }
}

/* An error names the file and one of its lines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(TomlValue) top = toml_parse((const char *) data, size, "FILE", &error);

        require_error(top, error, text);
        if (top)
                check_value(top, n_lines(data, size));
        else if (g_utf8_validate((const char *) data, (gssize) size, NULL)) {
                guint64 line = strtoul(error->message + strlen("FILE:"), NULL, 10);

                require(g_str_has_prefix(error->message, "FILE:") && line >= 1 && line <= n_lines(data, size),
                        "'%s' names no line", error->message);
        }
        return 0;
}
