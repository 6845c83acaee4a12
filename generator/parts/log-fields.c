/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/log-fields.h"
#include "libstart/value/unit-words.h"

bool handle_log_fields(Container *container, const Key *key, const Value *value, GError **error) {
        return key_parse_boolean(value->text, &container->has_log_fields, error);
}

/* systemd expands %, as in ExecStart=, but no variables: a value with one is left out. */
static void add(GString *fields, const char *name, const char *value) {
        g_autofree char *field = g_strconcat(name, "=", value, NULL);

        if (value && !strchr(value, '$'))
                unit_words_add(fields, field);
}

/* As in the OCI state, a container's id is its name. */
void log_fields_set(Container *container) {
        g_autoptr(GString) fields = g_string_new(NULL);
        const LaunchArgs *args = container->args;

        if (!container->has_log_fields)
                return;
        add(fields, "CONTAINER_NAME", args->name);
        add(fields, "CONTAINER_ID", args->name);
        add(fields, "CONTAINER_ID_FULL", args->name);
        add(fields, "CONTAINER_TAG", launch_args_last(args->log_opt, "tag"));
        add(fields, "IMAGE_NAME", args->image);
        service_set(container->service, "LogExtraFields", fields->str);
}
