/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <libcrun/container.h>

#include "libstart/base/error.h"
#include "libstart/ctl/annotation.h"

char *container_annotation(const ContainerUnit *container, const char *name, GError **error) {
        g_autofree char *root = container_unit_state_dir(container);
        g_autofree char *path = g_build_filename(root, container->args->name, "config.json", NULL);
        const json_map_string_string *annotations;
        libcrun_error_t err = NULL;
        libcrun_container_t *state = libcrun_container_load_from_file(path, &err);
        char *value = NULL;

        if (!state) {
                error_set(error, KT_ERROR_FAILED, "Cannot read '%s': %s", path, err->msg);
                libcrun_error_release(&err);
                return NULL;
        }
        annotations = state->container_def->annotations;
        for (size_t i = 0; annotations && i < annotations->len && !value; i++)
                if (g_str_equal(annotations->keys[i], name))
                        value = g_strdup(annotations->values[i]);
        libcrun_container_free(state);
        return value;
}
