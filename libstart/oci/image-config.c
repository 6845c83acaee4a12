/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ocispec/image_spec_schema_config_schema.h>
#include <stdlib.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/base/string-order.h"
#include "libstart/json/walk.h"
#include "libstart/oci/image-config.h"

#define DEPTH_MAX 64 /* as in json/visit.c */

typedef image_spec_schema_config_schema ImageSchema;
typedef image_spec_schema_config_schema_config ConfigSchema;

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImageSchema, free_image_spec_schema_config_schema)

void image_config_free(ImageConfig *image) {
        if (!image)
                return;
        g_free(image->user);
        g_free(image->working_dir);
        g_free(image->stop_signal);
        g_strfreev(image->entrypoint);
        g_strfreev(image->cmd);
        g_strfreev(image->env);
        g_strfreev(image->volumes);
        g_strfreev(image->labels);
        g_free(image);
}

static char *copy_text(const char *text) {
        return text && *text ? g_strdup(text) : NULL;
}

static char **copy_list(char *const *list, size_t length) {
        if (length == 0)
                return NULL;

        char **copy = g_new0(char *, length + 1);
        for (size_t i = 0; i < length; i++)
                copy[i] = g_strdup(list[i]);
        return copy;
}

static char **copy_labels(const json_map_string_string *labels) {
        if (!labels || labels->len == 0)
                return NULL;

        char **copy = g_new0(char *, labels->len + 1);
        for (size_t i = 0; i < labels->len; i++)
                copy[i] = g_strconcat(labels->keys[i], "=", labels->values[i], NULL);
        qsort(copy, labels->len, sizeof *copy, string_order);
        return copy;
}

/* A path with control characters could look like another one in the journal or in a terminal. */
static bool check_path(const char *key, const char *path, GError **error) {
        for (const char *c = path; *c; c++)
                if (g_ascii_iscntrl(*c)) {
                        g_autofree char *shown = g_strescape(path, NULL);

                        return error_set(error, KT_ERROR_USAGE, "%s: \"%s\" has a control character in it", key,
                                         shown);
                }
        if (path_value_check(path, error))
                return true;
        return error_prefix(error, "%s: ", key);
}

/* Of sorted ones, those that are the same but for their spelling ("/a" and "/a/"). */
static void drop_repeated(char **list) {
        char **last = list;

        for (char **next = list + 1; *list && *next; next++)
                if (g_str_equal(*last, *next))
                        g_free(*next);
                else
                        *++last = *next;
        if (*list)
                last[1] = NULL;
}

static bool copy_volumes(const image_spec_schema_defs_map_string_object *volumes, char ***ret, GError **error) {
        if (!volumes || volumes->len == 0)
                return true;

        g_auto(GStrv) copy = g_new0(char *, volumes->len + 1);
        for (size_t i = 0; i < volumes->len; i++) {
                if (!check_path("VOLUME", volumes->keys[i], error))
                        return false;
                copy[i] = path_value_clean(volumes->keys[i]);
        }
        qsort(copy, volumes->len, sizeof *copy, string_order);
        drop_repeated(copy);
        *ret = g_steal_pointer(&copy);
        return true;
}

static bool copy_config(ImageConfig *image, const ConfigSchema *config, GError **error) {
        image->user = copy_text(config->user);
        image->working_dir = copy_text(config->working_dir);
        image->stop_signal = copy_text(config->stop_signal);
        image->entrypoint = copy_list(config->entrypoint, config->entrypoint_len);
        image->cmd = copy_list(config->cmd, config->cmd_len);
        image->env = copy_list(config->env, config->env_len);
        image->labels = copy_labels(config->labels);
        if (image->working_dir && !check_path("WORKDIR", image->working_dir, error))
                return false;
        return copy_volumes(config->volumes, &image->volumes, error);
}

/* All that keyturn reads of a config. */
static const char *const names[] = {
        "Cmd",         "Entrypoint",       "Env",     "Healthcheck", "Interval", "Labels",  "Retries",
        "StartPeriod", "StopSignal",       "Test",    "Timeout",     "User",     "Volumes", "WorkingDir",
        "config",      "container_config", "created", "diff_ids",    "history",  "rootfs",  NULL,
};

ImageConfig *image_config_parse(const char *json, GError **error) {
        const struct parser_context context = { 0 };
        parser_error message = NULL;
        g_autoptr(ImageSchema) schema = NULL;
        g_autoptr(ImageConfig) image = NULL;
        yajl_val tree = json_parse_names(json, strlen(json), DEPTH_MAX, names, error);

        if (!tree)
                return error_prefix_null(error, "the image's config cannot be read: ");
        schema = make_image_spec_schema_config_schema(tree, &context, &message);
        yajl_tree_free(tree);
        if (!schema)
                error_set(error, KT_ERROR_FAILED, "the image's config cannot be read: %s",
                          message ? message : "it is no JSON object");
        free(message);
        if (!schema)
                return NULL;
        image = g_new0(ImageConfig, 1);
        if (schema->config && !copy_config(image, schema->config, error))
                return error_prefix_null(error, "the image's config: ");
        return g_steal_pointer(&image);
}

const char *image_config_find_label(const ImageConfig *image, const char *key) {
        size_t length = strlen(key);

        for (size_t i = 0; image->labels && image->labels[i]; i++)
                if (strncmp(image->labels[i], key, length) == 0 && image->labels[i][length] == '=')
                        return image->labels[i] + length + 1;
        return NULL;
}
