/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/generator/files/print-unit-file.h"

/* Sections and lines, without where they were written and what blanks comments end in. Transfer full. */
static char *show(const UnitFile *file) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < file->sections->len; i++) {
                const UnitSection *section = file->sections->pdata[i];

                if (section->name)
                        g_string_append_printf(text, "[%s]\n", section->name);
                for (guint k = 0; k < section->lines->len; k++) {
                        const UnitLine *line = &g_array_index(section->lines, UnitLine, k);

                        if (line->key)
                                g_string_append_printf(text, "%s=%s\n", line->key, line->value);
                        else {
                                g_autofree char *comment = g_strchomp(g_strdup(line->text));

                                g_string_append_printf(text, "%s\n", comment);
                        }
                }
        }
        return g_string_free(text, FALSE);
}

/* The printed file means the same. */
static void check_print(const UnitFile *file) {
        g_autoptr(UnitFile) again = unit_file_new();
        g_autofree char *text = print_unit_file(file);
        g_autoptr(GError) error = NULL;

        require(g_utf8_validate(text, -1, NULL), "what is printed is not UTF-8");
        require(unit_file_parse(again, "FILE", text, strlen(text), &error), "%s", error->message);
        g_autofree char *before = show(file), *after = show(again);
        require(g_str_equal(before, after), "<%s>\nbecame\n<%s>", before, after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size), *copy = g_memdup2(data, size);
        g_autoptr(UnitFile) file = unit_file_new();
        g_autoptr(GError) error = NULL;
        bool ok = unit_file_parse(file, "FILE", copy ? copy : "", size, &error);

        require_error(ok, error, text);
        require(ok || g_str_has_prefix(error->message, "FILE:"), "'%s' names no line", error->message);
        if (ok)
                check_print(file);
        return 0;
}
