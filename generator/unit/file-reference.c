/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/unit/file-reference.h"
#include "libstart/base/error.h"

void file_reference_clear(FileReference *reference) {
        g_clear_pointer(&reference->service, g_free);
        g_clear_pointer(&reference->instance, g_free);
}

/* What stands between the '@' and the suffix of `file`. Transfer full. */
static char *find_instance(const Conversion *container, const char *file, GError **error) {
        const char *begin = strchr(file, '@') + 1;
        size_t length = (size_t) (name_suffix(file) - begin);
        bool is_instance = name_has_at(container->service->name);

        if (length > 0 && (is_instance || strncmp(begin, "%i", length) != 0))
                return g_strndup(begin, length);
        if (is_instance)
                return g_strdup("%i");
        return error_null(error, KT_ERROR_USAGE,
                          "'%s' is a template, and this file is none: name an instance of it, %.*sNAME%s", file,
                          (int) (begin - file), file, begin + length);
}

bool file_reference_find(Conversion *container, const char *named, FileReference *ret, GError **error) {
        const char *service = container->service->name;
        g_autofree char *file = name_is_template(service) ? g_strdup(named) : unit_names_expand(named, service);
        g_auto(FileReference) found = { 0 };

        found.source = unit_names_refer(container->names, file, &found.service, error);
        if (!found.source)
                return false;
        if (name_is_template(found.source->name)) {
                found.instance = find_instance(container, file, error);
                if (!found.instance)
                        return false;
                if (!g_str_has_suffix(found.source->name, ".container"))
                        container->uses_template = found.source;
        }
        if (name_is_template(found.service)) {
                g_autofree char *template = found.service;

                found.service = name_instance(template, found.instance ?: "");
        }
        *ret = found;
        found = (FileReference) { 0 };
        return true;
}

char *file_reference_expand(const FileReference *reference, const char *text) {
        GString *result = g_string_new(NULL);

        for (const char *c = text; *c; c++) {
                bool is_specifier = *c == '%' && c[1];

                if (is_specifier && c[1] == 'i' && reference->instance)
                        g_string_append(result, reference->instance);
                else
                        g_string_append_len(result, c, is_specifier ? 2 : 1);
                c += is_specifier;
        }
        return g_string_free(result, FALSE);
}
