/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/visit.h"
#include "libstart/store/manifest.h"

#define SHA256 "sha256:"
#define ID_LENGTH 64

static const char *const names[] = {
        "architecture", "config", "digest", "fsLayers", "manifests", "mediaType", "os", "platform", "variant", NULL,
};

bool id_is_valid(const char *id) {
        return strlen(id) == ID_LENGTH && strspn(id, "0123456789abcdef") == ID_LENGTH;
}

bool digest_is_valid(const char *digest) {
        return g_str_has_prefix(digest, SHA256) && id_is_valid(digest + strlen(SHA256));
}

char *digest_from_id(const char *id) {
        return g_strconcat(SHA256, id, NULL);
}

char *digest_compute(const char *text, size_t length) {
        g_autofree char *digits = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *) text, length);

        return g_strconcat(SHA256, digits, NULL);
}

const char *manifest_architecture(void) {
#if defined(__x86_64__)
        return "amd64";
#elif defined(__i386__)
        return "386";
#elif defined(__aarch64__)
        return "arm64";
#elif defined(__arm__)
        return "arm";
#elif defined(__riscv) && __riscv_xlen == 64
        return "riscv64";
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return "ppc64le";
#elif defined(__s390x__)
        return "s390x";
#elif defined(__loongarch64)
        return "loong64";
#else
# error "Which architecture does the OCI image specification call this?"
#endif
}

/* An element of a manifest list. */
typedef struct Instance {
        char *digest;
        char *os;
        char *architecture;
        char *variant;
} Instance;

typedef struct ManifestReader {
        char *config;      /* digest */
        GArray *instances; /* of Instance */
        bool is_schema1;
} ManifestReader;

static void clear_instance(gpointer data) {
        Instance *instance = data;

        g_free(instance->digest);
        g_free(instance->os);
        g_free(instance->architecture);
        g_free(instance->variant);
}

static bool on_manifest_object(const char *path, void *data, GError **error) {
        ManifestReader *reader = data;

        if (strcmp(path, "manifests[]") == 0)
                g_array_set_size(reader->instances, reader->instances->len + 1);
        else if (strcmp(path, "fsLayers[]") == 0)
                reader->is_schema1 = true;
        return true;
}

static void replace(char **field, const char *value, size_t length) {
        g_free(*field);
        *field = g_strndup(value, length);
}

static void on_instance_string(Instance *instance, const char *path, const char *value, size_t length) {
        if (strcmp(path, "digest") == 0)
                replace(&instance->digest, value, length);
        else if (strcmp(path, "platform.os") == 0)
                replace(&instance->os, value, length);
        else if (strcmp(path, "platform.architecture") == 0)
                replace(&instance->architecture, value, length);
        else if (strcmp(path, "platform.variant") == 0)
                replace(&instance->variant, value, length);
}

static bool on_manifest_string(const char *path, const char *value, size_t length, void *data, GError **error) {
        ManifestReader *reader = data;

        if (strcmp(path, "config.digest") == 0)
                replace(&reader->config, value, length);
        else if (g_str_has_prefix(path, "manifests[].") && reader->instances->len > 0)
                on_instance_string(&g_array_index(reader->instances, Instance, reader->instances->len - 1),
                                   path + strlen("manifests[]."), value, length);
        return true;
}

/* An instance without a variant runs on every machine of its architecture, so it is the first choice.
 * Where all have one (32-bit arm) the first is taken, as it stands in the list. */
static const Instance *choose_instance(const GArray *instances, const char *architecture) {
        const Instance *chosen = NULL;

        for (unsigned i = 0; i < instances->len; i++) {
                const Instance *instance = &g_array_index(instances, Instance, i);

                if (g_strcmp0(instance->os, "linux") != 0 || g_strcmp0(instance->architecture, architecture) != 0)
                        continue;
                if (!chosen || (chosen->variant && !instance->variant))
                        chosen = instance;
        }
        return chosen;
}

static char *choose_digest(const GArray *instances, const char *architecture, GError **error) {
        const Instance *chosen = choose_instance(instances, architecture);
        g_autoptr(GString) platforms = g_string_new(NULL);

        if (chosen && chosen->digest)
                return g_strdup(chosen->digest);
        for (unsigned i = 0; i < instances->len; i++) {
                const Instance *instance = &g_array_index(instances, Instance, i);
                g_string_append_printf(platforms, " %s/%s", instance->os ? instance->os : "?",
                                       instance->architecture ? instance->architecture : "?");
        }
        return error_null(error, KT_ERROR_NOT_FOUND, "the manifest list has nothing for linux/%s, only for:%s",
                          architecture, platforms->str);
}

static char *choose(const ManifestReader *reader, const char *architecture, bool *ret_is_list, GError **error) {
        g_autofree char *digest = NULL;

        if (reader->config)
                digest = g_strdup(reader->config);
        else if (reader->instances->len > 0)
                digest = choose_digest(reader->instances, architecture, error);
        else if (reader->is_schema1)
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "it is of Docker's old schema 1; pull the image again from a current registry");
        else
                error_set(error, KT_ERROR_FAILED, "it is neither a manifest nor a list of manifests");
        if (!digest)
                return NULL;
        if (!digest_is_valid(digest))
                return error_null(error, KT_ERROR_FAILED, "it names '%s', which is not a SHA-256 digest", digest);
        *ret_is_list = !reader->config;
        return g_steal_pointer(&digest);
}

char *manifest_parse(const char *text, size_t length, const char *architecture, bool *ret_is_list, GError **error) {
        static const JsonVisitor visitor = { .object = on_manifest_object,
                                             .string = on_manifest_string,
                                             .names = names };
        g_autoptr(GArray) instances = g_array_new(FALSE, TRUE, sizeof(Instance));
        ManifestReader reader = { .instances = instances };
        char *digest = NULL;

        g_array_set_clear_func(instances, clear_instance);
        if (json_visit(text, length, &visitor, &reader, error))
                digest = choose(&reader, architecture, ret_is_list, error);
        g_free(reader.config);
        return digest;
}

static bool on_media_type(const char *path, const char *value, size_t length, void *data, GError **error) {
        static const char docker[] = "application/vnd.docker.container.image.v1+json";

        if (strcmp(path, "config.mediaType") == 0)
                *(bool *) data = length == strlen(docker) && memcmp(value, docker, length) == 0;
        return true;
}

bool manifest_is_docker(const char *text, size_t length) {
        static const JsonVisitor visitor = { .string = on_media_type, .names = names };
        bool is_docker = false;

        return json_visit(text, length, &visitor, &is_docker, NULL) && is_docker;
}

typedef struct ConfigReader {
        GPtrArray *diff_ids;
        TextRange history;
} ConfigReader;

static void on_config_array(const char *path, TextRange elements, void *data) {
        ConfigReader *reader = data;

        if (strcmp(path, "history") == 0)
                reader->history = elements;
}

static bool on_config_string(const char *path, const char *value, size_t length, void *data, GError **error) {
        ConfigReader *reader = data;
        bool is_type = strcmp(path, "rootfs.type") == 0;

        if (!is_type && strcmp(path, "rootfs.diff_ids[]") != 0)
                return true;

        g_autofree char *copy = g_strndup(value, length);
        if (is_type)
                return strcmp(copy, "layers") == 0 ||
                       error_set(error, KT_ERROR_UNSUPPORTED, "its root file system is '%s', not 'layers'", copy);
        if (!digest_is_valid(copy))
                return error_set(error, KT_ERROR_FAILED, "it names layer '%s', which is not a SHA-256 digest", copy);
        g_ptr_array_add(reader->diff_ids, g_steal_pointer(&copy));
        return true;
}

char **config_parse_diff_ids(const char *text, size_t length, TextRange *ret_history, GError **error) {
        /* It is on the way of each start, where image_config_parse() comes later. */
        static const JsonVisitor visitor = { .string = on_config_string,
                                             .array = on_config_array,
                                             .is_checked = true };
        g_autoptr(GPtrArray) diff_ids = g_ptr_array_new_with_free_func(g_free);
        ConfigReader reader = { .diff_ids = diff_ids };

        if (!json_visit(text, length, &visitor, &reader, error))
                return NULL;
        if (diff_ids->len == 0)
                return error_null(error, KT_ERROR_UNSUPPORTED, "it names no layers, so there is nothing to run");
        g_ptr_array_add(diff_ids, NULL);
        *ret_history = reader.history;
        return (char **) g_ptr_array_free(g_steal_pointer(&diff_ids), FALSE);
}

char **layer_chain_ids(char *const *diff_ids) {
        g_autoptr(GPtrArray) ids = g_ptr_array_new();

        for (unsigned i = 0; diff_ids[i]; i++) {
                const char *digits = diff_ids[i] + strlen(SHA256);
                g_autofree char *both = NULL;

                if (i > 0)
                        both = g_strconcat(ids->pdata[i - 1], "+", digits, NULL);
                g_ptr_array_add(ids,
                                both ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, both, -1) : g_strdup(digits));
        }
        g_ptr_array_add(ids, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&ids), FALSE);
}
