/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/networks.h"
#include "libstart/base/error.h"

char *network_file_name(const SourceFile *source) {
        const UnitLine *line = unit_section_last(unit_file_section(source->unit, "Network"), "NetworkName");
        g_autofree char *value = line ? words_unquote(line->value) : NULL;

        if (value && value[0])
                return g_steal_pointer(&value);
        return g_strdup_printf("systemd-%.*s", (int) (strlen(source->name) - strlen(".network")), source->name);
}

char *network_refer(const UnitNames *names, const char *value, char **ret_service, GError **error) {
        g_autofree char *file = g_strndup(value, strcspn(value, ":"));
        g_autofree char *service = unit_names_translate(names, file, error);
        const SourceFile *source = service ? unit_names_maker(names, service) : NULL;
        g_autofree char *name = NULL;

        if (!service)
                return NULL;
        if (!source || !source->unit) {
                error_set(error, KT_ERROR_NOT_FOUND, "'%s' cannot be read", file);
                return NULL;
        }
        name = network_file_name(source);
        *ret_service = g_steal_pointer(&service);
        return g_strconcat(name, value + strlen(file), NULL);
}
