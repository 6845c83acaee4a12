/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/network/network-references.h"

char *network_file_name(const SourceFile *source) {
        char *name = unit_file_value(source->unit, "Network", "NetworkName");

        return name  ?:
                       g_strdup_printf("systemd-%.*s", (int) (strlen(source->name) - strlen(".network")),
                                       source->name);
}

char *network_refer(const UnitNames *names, const char *value, char **ret_service, GError **error) {
        g_autofree char *file = g_strndup(value, strcspn(value, ":"));
        const SourceFile *source = unit_names_refer(names, file, ret_service, error);
        g_autofree char *name = NULL;

        if (!source)
                return NULL;
        name = network_file_name(source);
        return g_strconcat(name, value + strlen(file), NULL);
}
