/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/store/image-search.h"
#include "libstart/store/image.h"
#include "libstart/store/layers.h"
#include "libstart/store/manifest.h"

void store_image_free(StoreImage *image) {
        if (!image)
                return;
        g_free(image->id);
        g_free(image->name);
        g_free(image->store);
        g_strfreev(image->layers);
        g_free(image->config);
        g_free(image);
}

/* STORE/overlay-images/ID/KEY, where a key that is not all of ".0-9a-z" is written in base64 after "=". */
static char *big_data_path(const char *store, const char *id, const char *key) {
        g_autofree char *name = NULL;

        if (strspn(key, ".0123456789abcdefghijklmnopqrstuvwxyz") == strlen(key))
                name = g_strdup(key);
        else {
                g_autofree char *encoded = g_base64_encode((const guchar *) key, strlen(key));
                name = g_strconcat("=", encoded, NULL);
        }
        return g_strconcat(store, "/overlay-images/", id, "/", name, NULL);
}

/* Reads one document of an image. digest: that it must have; NULL if that is not known. A power cut can leave the
 * list of images newer than the documents. */
static char *read_big_data(const char *store, const ImageRecord *record, const char *key, const char *digest,
                           size_t *ret_length, GError **error) {
        g_autofree char *path = big_data_path(store, record->id, key);
        g_autofree char *text = NULL;
        size_t length = 0;

        if (!file_read(path, &text, &length, error))
                return NULL;
        if (!text)
                return error_null(error, KT_ERROR_FAILED, "its file '%s' is missing", path);
        if (digest) {
                g_autofree char *actual = digest_compute(text, length);

                if (strcmp(actual, digest) != 0)
                        return error_null(error, KT_ERROR_FAILED, "its file '%s' is damaged: its digest is not '%s'",
                                          path, digest);
        }
        *ret_length = length;
        return g_steal_pointer(&text);
}

/* The digest of what a manifest leads to: a configuration, or (*ret_is_list) the manifest for this machine. digest:
 * the manifest's own; NULL for the one under the key "manifest", whatever it is. */
static char *read_manifest(const char *store, const ImageRecord *record, const char *digest, bool *ret_is_list,
                           GError **error) {
        g_autofree char *named = digest ? g_strconcat("manifest-", digest, NULL) : NULL;
        /* The image's own manifest may be there only under the key that it always has. */
        const char *key = named && image_record_manifest(record, named) ? named : "manifest";
        size_t length;

        if (!digest)
                digest = image_record_manifest(record, key);

        g_autofree char *text = read_big_data(store, record, key, digest, &length, error);
        if (!text)
                return NULL;
        return manifest_parse(text, length, manifest_architecture(), ret_is_list, error) ?:
                       error_prefix_null(error, "its file '%s': ", key);
}

/* Of a list of manifests: the one for this machine, which is stored with the image or is another image. match becomes
 * the image that has it. Returns its configuration's digest. */
static char *follow_list(const ImageSearch *search, const char *instance, ImageMatch *match, GError **error) {
        g_autofree char *config = NULL;
        bool is_list;

        if (!image_record_has_manifest(match->record, instance) &&
            !image_search_find_manifest(search, instance, match))
                return error_null(
                        error, KT_ERROR_NOT_FOUND,
                        "it is a list of manifests, and the one for this machine, '%s', is not in the image stores",
                        instance);
        if (!match->record->id || !id_is_valid(match->record->id))
                return error_null(error, KT_ERROR_FAILED, "its instance has no valid id");
        config = read_manifest(search->conf->stores[match->store], match->record, instance, &is_list, error);
        if (config && is_list)
                return error_null(error, KT_ERROR_FAILED, "it is a list of lists of manifests");
        return g_steal_pointer(&config);
}

static char *resolve_manifest(const ImageSearch *search, ImageMatch *match, GError **error) {
        bool is_list = false;
        g_autofree char *digest = read_manifest(search->conf->stores[match->store], match->record,
                                                search->reference->digest, &is_list, error);

        return digest && is_list ? follow_list(search, digest, match, error) : g_steal_pointer(&digest);
}

/* The digest of an image's configuration is the image's id, in nearly every image: then no manifest has to be read to
 * find it. Who asks for a digest asks for a manifest, though. match becomes the image that has the configuration. */
static char *read_config(const ImageSearch *search, ImageMatch *match, size_t *ret_length, GError **error) {
        char *const *stores = search->conf->stores;
        g_autofree char *digest = digest_from_id(match->record->id);
        char *config = NULL;

        if (!search->reference->digest)
                config = read_big_data(stores[match->store], match->record, digest, digest, ret_length, NULL);
        if (config)
                return config;
        g_free(digest);
        digest = resolve_manifest(search, match, error);
        return digest ? read_big_data(stores[match->store], match->record, digest, digest, ret_length, error) : NULL;
}

/* Layers can be in any store; they are looked for in the image's own first. */
static char **layer_stores(const ImageSearch *search, unsigned own) {
        char **stores = search->conf->stores;
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        g_strv_builder_add(builder, stores[own]);
        for (unsigned i = 0; stores[i]; i++)
                if (i != own)
                        g_strv_builder_add(builder, stores[i]);
        return g_strv_builder_end(builder);
}

static bool find_layers(const ImageSearch *search, const ImageMatch *match, StoreImage *image, size_t config_length,
                        GError **error) {
        g_auto(GStrv) stores = layer_stores(search, match->store);
        g_auto(GStrv) chain_ids = NULL;
        TextRange history;
        g_auto(GStrv) diff_ids = config_parse_diff_ids(image->config, config_length, &history, error);

        if (!diff_ids)
                return error_prefix(error, "its configuration: ");
        /* Nobody asks for the history, which is the larger part of many configurations, and they are parsed once
         * more. */
        memmove(image->config + history.begin, image->config + history.end, config_length + 1 - history.end);
        if (!match->record->layer || !id_is_valid(match->record->layer))
                return error_set(error, KT_ERROR_FAILED, "the store does not say which is its uppermost layer");
        chain_ids = layer_chain_ids(diff_ids);
        image->layers = layers_find(stores, match->record->layer, chain_ids, error);
        return image->layers != NULL;
}

static StoreImage *load(const ImageSearch *search, ImageMatch *match, GError **error) {
        g_autoptr(StoreImage) image = g_new0(StoreImage, 1);
        size_t length;

        if (!match->record->id || !id_is_valid(match->record->id))
                return error_null(error, KT_ERROR_FAILED, "the store has no valid id for it");
        image->config = read_config(search, match, &length, error);
        if (!image->config)
                return NULL;
        image->id = g_strdup(match->record->id);
        image->name = g_strdup(match->name);
        image->store = g_strdup(search->conf->stores[match->store]);
        image->writable_store = match->store < search->conf->n_writable;
        return find_layers(search, match, image, length, error) ? g_steal_pointer(&image) : NULL;
}

/* A pull takes the layers that are there, whatever is in them: only what is removed before comes anew. */
static StoreImage *load_or_advise(const ImageSearch *search, ImageMatch *match, GError **error) {
        g_autoptr(GError) problem = NULL;
        StoreImage *image = load(search, match, &problem);

        if (problem && problem->code == KT_ERROR_FAILED)
                return error_null(
                        error, KT_ERROR_FAILED,
                        "%s. If that stays so, remove the image (podman rmi, skopeo delete), and get it again",
                        problem->message);
        if (problem)
                g_propagate_error(error, g_steal_pointer(&problem));
        return image;
}

/* Whatever the quick way does not find, or finds damaged, the thorough one finds or explains. */
static StoreImage *search_once(const ImageSearch *search, GError **error) {
        ImageMatch quick, match = { 0 };
        StoreImage *image = image_search_find_quickly(search, &quick) ? load(search, &quick, NULL) : NULL;

        if (!image && image_search_find(search, &match, error))
                image = load_or_advise(search, &match, error);
        g_free(quick.name);
        g_free(match.name);
        return image;
}

/* Without a lock the files of a store are read at different times. *ret_again: the search failed, and
 * podman has changed a store meanwhile. */
static StoreImage *search_stores(const StoreConf *conf, const Reference *reference, bool *ret_again, GError **error) {
        ImageSearch search = { .conf = conf, .reference = reference };
        StoreImage *image = image_search_open(&search, error) ? search_once(&search, error) : NULL;

        *ret_again = !image && !image_search_is_current(&search);
        image_search_clear(&search);
        return image;
}

StoreImage *store_image_find_in(const StoreConf *conf, const char *reference, GError **error) {
        g_autoptr(Reference) parsed = reference_parse(reference, error);
        g_autoptr(GError) local = NULL;
        StoreImage *image;
        bool again;

        if (!parsed)
                return NULL;
        /* Once: a second failure is an answer, whatever podman does meanwhile. */
        image = search_stores(conf, parsed, &again, &local);
        if (again) {
                g_clear_error(&local);
                image = search_stores(conf, parsed, &again, &local);
        }
        if (!image)
                g_propagate_prefixed_error(error, g_steal_pointer(&local), "Image '%s': ", reference);
        return image;
}

StoreImage *store_image_find(const char *root, const char *reference, const GPtrArray *stores, GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load(root, stores, error);

        return conf ? store_image_find_in(conf, reference, error) : NULL;
}

bool store_image_is_docker(const StoreImage *image) {
        const ImageRecord record = { .id = image->id };
        size_t length;
        g_autofree char *text = read_big_data(image->store, &record, "manifest", NULL, &length, NULL);

        return text && manifest_is_docker(text, length);
}
