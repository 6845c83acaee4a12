/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/config/small-file.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"
#include "libstart/store/artifact.h"
#include "libstart/store/manifest.h"
#include "libstart/store/reference.h"
#include "libstart/store/store-conf.h"

#define REF_NAME "org.opencontainers.image.ref.name"
#define TITLE "org.opencontainers.image.title"
#define DEPTH_MAX 16           /* of JSON; a manifest has five levels */
#define DOCUMENT_MAX (4 << 20) /* as registries limit a manifest */

static void free_blob(void *data) {
        ArtifactBlob *blob = data;

        g_free(blob->path);
        g_free(blob->digest);
        g_free(blob->title);
        g_free(blob);
}

/*
 * The index
 */

static const char *annotation(yajl_val descriptor, const char *name) {
        yajl_val annotations = json_member(descriptor, "annotations", yajl_t_object);
        yajl_val value = annotations ? json_map_value(annotations, name, yajl_t_string) : NULL;

        return value ? YAJL_GET_STRING(value) : NULL;
}

/* With ":latest", where it says neither a tag nor a digest. Transfer full. */
static char *complete_name(const char *name) {
        g_autoptr(Reference) reference = reference_parse(name, NULL);

        return reference && reference->repository && !reference->is_short ?
                       reference_name(reference, reference->repository) :
                       g_strdup(name);
}

static bool is_digest_of(const char *digest, const char *name) {
        const char *digits = g_str_has_prefix(name, "sha256:") ? name + strlen("sha256:") : name;

        return strlen(digits) >= REFERENCE_ID_MIN && g_str_has_prefix(digest + strlen("sha256:"), digits);
}

/* The one manifest of that name, or of a digest that begins so. *ret is the index's; NULL where there is none. */
static bool find_one(yajl_val manifests, const char *name, bool by_digest, const char **ret, GError **error) {
        *ret = NULL;
        for (size_t i = 0; i < manifests->u.array.len; i++) {
                yajl_val entry = manifests->u.array.values[i];
                const char *digest = json_member_string(entry, "digest");

                if (!digest_is_valid(digest) ||
                    !(by_digest ? is_digest_of(digest, name) : g_strcmp0(annotation(entry, REF_NAME), name) == 0))
                        continue;
                if (*ret && !g_str_equal(*ret, digest))
                        return error_set(error, KT_ERROR_FAILED, "'%s' means several artifacts: write more of it",
                                         name);
                *ret = digest;
        }
        return true;
}

char *artifact_index_find(const char *text, size_t length, const char *name, GError **error) {
        g_autofree char *complete = complete_name(name);
        g_auto(yajl_val) index = json_parse(text, length, DEPTH_MAX, error);
        yajl_val manifests = index ? json_member(index, "manifests", yajl_t_array) : NULL;
        const char *digest = NULL;
        bool ok = index && (!manifests || (find_one(manifests, name, false, &digest, error) &&
                                           (digest || find_one(manifests, complete, false, &digest, error)) &&
                                           (digest || find_one(manifests, name, true, &digest, error))));

        if (ok && !digest)
                error_set(error, KT_ERROR_NOT_FOUND, "it is not there");
        return ok ? g_strdup(digest) : NULL;
}

/*
 * A manifest
 */

/* Transfer full. */
static ArtifactBlob *parse_layer(yajl_val layer, const char *blobs, GError **error) {
        const char *digest = json_member_string(layer, "digest"), *title = annotation(layer, TITLE);
        yajl_val number = json_member(layer, "size", yajl_t_number);
        ArtifactBlob *blob;
        guint64 size;

        if (!digest_is_valid(digest))
                return error_null(error, KT_ERROR_FAILED, "'%s' is not a SHA-256 digest", digest);
        if (!number || !json_get_number(number, G_MAXINT64, &size, NULL))
                return error_null(error, KT_ERROR_FAILED, "%s: its size is missing", digest);
        if (title && !path_value_is_name(title))
                return error_null(error, KT_ERROR_FAILED, "%s: its title is no name of a file", digest);
        blob = g_new0(ArtifactBlob, 1);
        blob->digest = g_strdup(digest);
        blob->title = g_strdup(title);
        blob->size = (goffset) size;
        blob->path = g_build_filename(blobs, digest + strlen("sha256:"), NULL);
        return blob;
}

static bool parse_layers(yajl_val manifest, const char *blobs, Artifact *artifact, GError **error) {
        yajl_val layers = json_member(manifest, "layers", yajl_t_array);

        for (size_t i = 0; layers && i < layers->u.array.len; i++) {
                ArtifactBlob *blob = parse_layer(layers->u.array.values[i], blobs, error);

                if (!blob)
                        return false;
                g_ptr_array_add(artifact, blob);
        }
        return artifact->len > 0 ||
               error_set(error, KT_ERROR_FAILED,
                         json_member(manifest, "manifests", yajl_t_array) ? "it is a list of manifests" :
                                                                            "it has no files");
}

Artifact *artifact_manifest_parse(const char *text, size_t length, const char *blobs, GError **error) {
        g_autoptr(GPtrArray) artifact = g_ptr_array_new_with_free_func(free_blob);
        g_auto(yajl_val) manifest = json_parse(text, length, DEPTH_MAX, error);

        return manifest && parse_layers(manifest, blobs, artifact, error) ? g_steal_pointer(&artifact) : NULL;
}

/*
 * The files
 */

/* *ret_text is NULL where there is no such file. */
static bool read_document(const char *path, char **ret_text, size_t *ret_length, GError **error) {
        if (!file_read(path, ret_text, ret_length, error))
                return false;
        return !*ret_text || *ret_length <= DOCUMENT_MAX ||
               error_set(error, KT_ERROR_FAILED, "'%s' has more than %d MiB", path, DOCUMENT_MAX >> 20);
}

/* A power cut can leave the index newer than what it names. */
static Artifact *read_manifest(const char *blobs, const char *digest, GError **error) {
        g_autofree char *path = g_build_filename(blobs, digest + strlen("sha256:"), NULL), *text = NULL,
                        *actual = NULL;
        size_t length = 0;

        if (!read_document(path, &text, &length, error))
                return NULL;
        actual = text ? digest_compute(text, length) : NULL;
        if (g_strcmp0(actual, digest) == 0)
                return artifact_manifest_parse(text, length, blobs, error);
        return error_null(error, KT_ERROR_FAILED, "'%s' is %s; pull it again", path, text ? "damaged" : "missing");
}

bool artifact_blob_is_whole(const ArtifactBlob *blob) {
        struct stat st;

        return lstat(blob->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == blob->size;
}

static bool check_files(const Artifact *artifact, GError **error) {
        for (guint i = 0; i < artifact->len; i++) {
                const ArtifactBlob *blob = artifact->pdata[i];

                if (!artifact_blob_is_whole(blob))
                        return error_set(error, KT_ERROR_FAILED,
                                         "its file '%s' is missing or incomplete; pull it again", blob->path);
        }
        return true;
}

bool store_artifact_read(const char *directory, const char *name, Artifact **ret, GError **error) {
        g_autofree char *index = g_build_filename(directory, "index.json", NULL), *text = NULL, *digest = NULL,
                        *blobs = g_build_filename(directory, "blobs", "sha256", NULL);
        g_autoptr(GError) problem = NULL;
        size_t length = 0;

        *ret = NULL;
        if (!read_document(index, &text, &length, error))
                return false;
        if (text)
                digest = artifact_index_find(text, length, name, &problem);
        if (problem && !g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_prefixed_error(error, g_steal_pointer(&problem), "'%s': ", index);
                return false;
        }
        *ret = digest ? read_manifest(blobs, digest, error) : NULL;
        return !digest || *ret;
}

static char *directory_below(const char *store) {
        return g_build_filename(store, "artifacts", NULL);
}

Artifact *store_artifact_find(const char *root, const char *name, const GPtrArray *stores, GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load(root, stores, error);
        g_autoptr(GPtrArray) found = NULL;

        for (char **store = conf ? conf->stores : NULL; store && *store; store++) {
                g_autofree char *directory = directory_below(*store);

                if (!store_artifact_read(directory, name, &found, error) || (found && !check_files(found, error)))
                        return error_prefix_null(error, "Artifact '%s': ", name);
                if (found)
                        return g_steal_pointer(&found);
        }
        if (conf)
                error_set(error, KT_ERROR_NO_IMAGE,
                          "Artifact '%s' is not in the image stores; get it with 'podman artifact pull', or let a "
                          ".artifact file bring it, and name that file in Mount=",
                          name);
        return NULL;
}

char *store_artifact_directory(const char *root, GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load(root, NULL, error);

        /* The last one that is written to is graphroot. */
        return conf ? directory_below(conf->stores[conf->n_writable - 1]) : NULL;
}
