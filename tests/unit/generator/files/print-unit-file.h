/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/unit-file.h"

/* The whole file. What was parsed from one well-formed file comes out as it went in. Transfer full. */
static inline char *print_unit_file(const UnitFile *file) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < file->sections->len; i++) {
                const UnitSection *section = file->sections->pdata[i];

                if (section->name)
                        g_string_append_printf(text, "[%s]\n", section->name);
                unit_section_print(section, text);
        }
        return g_string_free(text, FALSE);
}
