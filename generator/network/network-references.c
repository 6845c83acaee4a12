/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/network/network-references.h"
#include "generator/unit/file-reference.h"

char *network_file_name(const SourceFile *source) {
        return unit_file_value(source->unit, "Network", "NetworkName") ?: name_default(source->name);
}

char *network_refer(Conversion *container, const char *value, char **ret_service, GError **error) {
        g_autofree char *file = g_strndup(value, strcspn(value, ":")), *own = NULL, *name = NULL;
        g_auto(FileReference) network = { 0 };

        if (!file_reference_find(container, file, &network, error))
                return NULL;
        own = network_file_name(network.source);
        name = file_reference_expand(&network, own);
        *ret_service = g_steal_pointer(&network.service);
        return g_strconcat(name, value + strlen(file), NULL);
}
