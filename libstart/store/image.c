/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/store/image-list.h"
#include "libstart/store/image.h"
#include "libstart/store/layers.h"
#include "libstart/store/manifest.h"
#include "libstart/store/reference.h"
#include "libstart/store/short-names.h"
#include "libstart/store/store-conf.h"

/* A store's images.json, as it was when it was read. */
typedef struct Index {
        char *path;
        FileMap file;
        ImageList *list; /* all of it, or only the image that was found without parsing the rest, or NULL */
} Index;

/* One walk through the stores. */
typedef struct Search {
        const StoreConf *conf;
        const Reference *reference;
        GArray *indexes; /* of Index, one per store */
} Search;

typedef struct Match {
        unsigned store;
        const ImageRecord *record; /* belongs to the search; NULL: nothing was found */
        char *name;
} Match;

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

static void clear_index(gpointer data) {
        Index *index = data;

        g_free(index->path);
        file_unmap(&index->file);
        g_clear_pointer(&index->list, image_list_free);
}

static bool open_indexes(Search *search, GError **error) {
        for (char **store = search->conf->stores; *store; store++) {
                Index *index;

                g_array_set_size(search->indexes, search->indexes->len + 1);
                index = &g_array_index(search->indexes, Index, search->indexes->len - 1);
                index->path = g_strconcat(*store, "/overlay-images/images.json", NULL);
                if (!file_map(index->path, &index->file, error))
                        return false;
        }
        return true;
}

static bool parse_indexes(const Search *search, GError **error) {
        for (unsigned i = 0; i < search->indexes->len; i++) {
                Index *index = &g_array_index(search->indexes, Index, i);

                g_clear_pointer(&index->list, image_list_free);
                index->list = image_list_parse(index->file.text, index->file.length, error);
                if (!index->list) {
                        g_prefix_error(error, "%s: ", index->path);
                        return false;
                }
        }
        return true;
}

static bool indexes_unchanged(const Search *search) {
        for (unsigned i = 0; i < search->indexes->len; i++) {
                const Index *index = &g_array_index(search->indexes, Index, i);

                if (!file_unchanged(index->path, &index->file.identity))
                        return false;
        }
        return true;
}

static const GPtrArray *records(const Search *search, unsigned store) {
        static const GPtrArray none = { 0 };
        const ImageList *list = g_array_index(search->indexes, Index, store).list;

        return list ? list->records : &none;
}

typedef bool (*RecordTest)(const ImageRecord *record, const char *what);

/* The first record, in the order of the stores, that passes a test. */
static bool find_first(const Search *search, RecordTest test, const char *what, Match *ret) {
        for (unsigned store = 0; store < search->indexes->len; store++) {
                const GPtrArray *list = records(search, store);

                for (unsigned i = 0; i < list->len; i++)
                        if (test(list->pdata[i], what)) {
                                ret->store = store;
                                ret->record = list->pdata[i];
                                return true;
                        }
        }
        return false;
}

/* Removing a name from an image of a read-only store leaves a record of the image without that name in
 * the store that podman writes to, and that counts. */
static bool name_was_removed(const Search *search, unsigned store, const ImageRecord *record) {
        Match primary;

        return store > 0 && record->id && find_first(search, image_record_has_id, record->id, &primary) &&
               primary.store == 0;
}

static bool find_by_name(const Search *search, const char *name, Match *ret) {
        for (unsigned store = 0; store < search->indexes->len; store++) {
                const GPtrArray *list = records(search, store);

                for (unsigned i = 0; i < list->len; i++) {
                        const ImageRecord *record = list->pdata[i];

                        if (image_record_has_name(record, name) && !name_was_removed(search, store, record)) {
                                ret->store = store;
                                ret->record = record;
                                return true;
                        }
                }
        }
        return false;
}

/* An image with the digest, provided that podman knows it by some name in the repository. */
static bool find_by_digest(const Search *search, const char *repository, const char *digest, Match *ret) {
        for (unsigned store = 0; store < search->indexes->len; store++) {
                const GPtrArray *list = records(search, store);

                for (unsigned i = 0; i < list->len; i++) {
                        const ImageRecord *record = list->pdata[i];

                        if (image_record_has_manifest(record, digest) &&
                            image_record_has_repository(record, repository)) {
                                ret->store = store;
                                ret->record = record;
                                return true;
                        }
                }
        }
        return false;
}

static bool find_by_id(const Search *search, Match *ret, GError **error) {
        const char *prefix = search->reference->id;

        if (!prefix || !find_first(search, image_record_has_id_prefix, prefix, ret))
                return true;
        for (unsigned store = 0; store < search->indexes->len; store++) {
                const GPtrArray *list = records(search, store);

                for (unsigned i = 0; i < list->len; i++)
                        if (image_record_has_id_prefix(list->pdata[i], prefix) &&
                            !image_record_has_id(list->pdata[i], ret->record->id))
                                return error_set(error, KT_ERROR_USAGE,
                                                 "several images have an id that begins with '%s'; give more "
                                                 "digits or a name",
                                                 prefix);
        }
        ret->name = g_strdup(ret->record->id);
        return true;
}

static char **repositories(const Search *search, GError **error) {
        const Reference *reference = search->reference;
        g_autoptr(ShortNames) names = NULL;

        if (!reference->is_short)
                return reference_repositories(reference, NULL, NULL);
        names = short_names_load(search->conf->root, error);
        if (!names)
                return NULL;
        return reference_repositories(reference, g_hash_table_lookup(names->aliases, reference->repository),
                                      names->registries);
}

static void set_not_found(const Search *search, GPtrArray *names, GError **error) {
        g_autofree char *stores = g_strjoinv("', '", search->conf->stores);
        g_autofree char *tried = NULL;

        if (names->len == 0)
                g_ptr_array_add(names, g_strdup(search->reference->id));
        g_ptr_array_add(names, NULL);
        tried = g_strjoinv("', '", (char **) names->pdata);
        error_set(error, KT_ERROR_NOT_FOUND,
                  "it is not in the image stores (looked for '%s' in '%s'); get it with 'podman pull', or put "
                  "it into a store of 'additionalimagestores' in storage.conf",
                  tried, stores);
}

/* Podman's order: names before the beginnings of ids. ret->record stays NULL where there is nothing. */
static bool find_by_reference(const Search *search, GPtrArray *tried, Match *ret, GError **error) {
        const Reference *reference = search->reference;

        if (reference->repository) {
                g_auto(GStrv) candidates = repositories(search, error);

                if (!candidates)
                        return false;
                for (char **repository = candidates; *repository; repository++) {
                        g_autofree char *name = reference_name(reference, *repository);

                        if (find_by_name(search, name, ret) ||
                            (reference->digest && find_by_digest(search, *repository, reference->digest, ret))) {
                                ret->name = g_steal_pointer(&name);
                                return true;
                        }
                        g_ptr_array_add(tried, g_steal_pointer(&name));
                }
        }
        return find_by_id(search, ret, error);
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

/* Reads one document of an image. digest: what it must have, NULL if that is not known; a power cut can
 * leave the list of images newer than what it lists. */
static char *read_big_data(const char *store, const ImageRecord *record, const char *key, const char *digest,
                           size_t *ret_length, GError **error) {
        g_autofree char *path = big_data_path(store, record->id, key);
        g_autofree char *text = NULL;
        size_t length = 0;

        if (!file_read(path, &text, &length, error))
                return NULL;
        if (!text) {
                error_set(error, KT_ERROR_FAILED, "its file '%s' is missing", path);
                return NULL;
        }
        if (digest) {
                g_autofree char *actual = digest_compute(text, length);

                if (strcmp(actual, digest) != 0) {
                        error_set(error, KT_ERROR_FAILED, "its file '%s' is damaged: its digest is not '%s'", path,
                                  digest);
                        return NULL;
                }
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
        char *next = manifest_parse(text, length, manifest_architecture(), ret_is_list, error);
        if (!next)
                g_prefix_error(error, "its file '%s': ", key);
        return next;
}

/* Of a list of manifests: the one for this machine, which is stored with the image or is another image. match becomes
 * the image that has it. Returns its configuration's digest. */
static char *follow_list(const Search *search, const char *instance, Match *match, GError **error) {
        g_autofree char *config = NULL;
        bool is_list;

        if (!image_record_has_manifest(match->record, instance) &&
            !find_first(search, image_record_has_manifest, instance, match)) {
                error_set(error, KT_ERROR_NOT_FOUND,
                          "it is a list of manifests, and the one for this machine, '%s', is not in the image stores",
                          instance);
                return NULL;
        }
        if (!match->record->id || !id_is_valid(match->record->id)) {
                error_set(error, KT_ERROR_FAILED, "its instance has no valid id");
                return NULL;
        }
        config = read_manifest(search->conf->stores[match->store], match->record, instance, &is_list, error);
        if (config && is_list) {
                error_set(error, KT_ERROR_FAILED, "it is a list of lists of manifests");
                return NULL;
        }
        return g_steal_pointer(&config);
}

static char *resolve_manifest(const Search *search, Match *match, GError **error) {
        bool is_list = false;
        g_autofree char *digest = read_manifest(search->conf->stores[match->store], match->record,
                                                search->reference->digest, &is_list, error);

        return digest && is_list ? follow_list(search, digest, match, error) : g_steal_pointer(&digest);
}

/* The digest of an image's configuration is the image's id, in nearly every image: then no manifest has to be read to
 * find it. Who asks for a digest asks for a manifest, though. match becomes the image that has the configuration. */
static char *read_config(const Search *search, Match *match, size_t *ret_length, GError **error) {
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
static char **layer_stores(const Search *search, unsigned own) {
        char **stores = search->conf->stores;
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        g_strv_builder_add(builder, stores[own]);
        for (unsigned i = 0; stores[i]; i++)
                if (i != own)
                        g_strv_builder_add(builder, stores[i]);
        return g_strv_builder_end(builder);
}

static bool find_layers(const Search *search, const Match *match, StoreImage *image, size_t config_length,
                        GError **error) {
        g_auto(GStrv) stores = layer_stores(search, match->store);
        g_auto(GStrv) chain_ids = NULL;
        TextRange history;
        g_auto(GStrv) diff_ids = config_parse_diff_ids(image->config, config_length, &history, error);

        if (!diff_ids) {
                g_prefix_error(error, "its configuration: ");
                return false;
        }
        /* The most of many a configuration, which is parsed once more, and nobody asks for it. */
        memmove(image->config + history.begin, image->config + history.end, config_length + 1 - history.end);
        if (!match->record->layer || !id_is_valid(match->record->layer))
                return error_set(error, KT_ERROR_FAILED, "the store does not say which is its uppermost layer");
        chain_ids = layer_chain_ids(diff_ids);
        image->layers = layers_find(stores, match->record->layer, chain_ids, error);
        return image->layers != NULL;
}

static StoreImage *load(const Search *search, Match *match, GError **error) {
        g_autoptr(StoreImage) image = g_new0(StoreImage, 1);
        size_t length;

        if (!match->record->id || !id_is_valid(match->record->id)) {
                error_set(error, KT_ERROR_FAILED, "the store has no valid id for it");
                return NULL;
        }
        image->config = read_config(search, match, &length, error);
        if (!image->config)
                return NULL;
        image->id = g_strdup(match->record->id);
        image->name = g_strdup(match->name);
        image->store = g_strdup(search->conf->stores[match->store]);
        image->writable_store = match->store < search->conf->n_writable;
        return find_layers(search, match, image, length, error) ? g_steal_pointer(&image) : NULL;
}

static bool text_has(const FileMap *file, const char *id) {
        return file->text && memmem(file->text, file->length, id, strlen(id));
}

/* A name that says all, as in nearly every unit, without parsing the lists of images. A later store only
 * counts where the first one, in which podman notes what it takes from the others, knows nothing of the
 * image: see name_was_removed(). */
static bool find_quickly(const Search *search, Match *ret) {
        const Reference *reference = search->reference;
        const Index *first = &g_array_index(search->indexes, Index, 0);

        if (!reference->repository || reference->is_short || reference->digest)
                return false;

        g_autofree char *name = reference_name(reference, reference->repository);
        for (unsigned store = 0; store < search->indexes->len; store++) {
                Index *index = &g_array_index(search->indexes, Index, store);

                if (!index->file.text)
                        continue;
                index->list = image_list_find_name(index->file.text, index->file.length, name);
                if (!index->list)
                        continue;
                ret->store = store;
                ret->record = index->list->records->pdata[0];
                ret->name = g_steal_pointer(&name);
                return ret->record->id && (store == 0 || !text_has(&first->file, ret->record->id));
        }
        return false;
}

static StoreImage *load_quickly(const Search *search) {
        Match match = { 0 };
        StoreImage *image = find_quickly(search, &match) ? load(search, &match, NULL) : NULL;

        g_free(match.name);
        return image;
}

static StoreImage *load_thoroughly(const Search *search, GError **error) {
        g_autoptr(GPtrArray) tried = g_ptr_array_new_with_free_func(g_free);
        Match match = { 0 };
        StoreImage *image = NULL;

        if (!parse_indexes(search, error))
                return NULL;
        if (find_by_reference(search, tried, &match, error)) {
                if (match.record)
                        image = load(search, &match, error);
                else
                        set_not_found(search, tried, error);
        }
        g_free(match.name);
        return image;
}

/* Whatever the quick way does not find, or finds damaged, the thorough one finds or explains. */
static StoreImage *search_once(Search *search, GError **error) {
        StoreImage *image;

        if (!open_indexes(search, error))
                return NULL;
        image = load_quickly(search);
        return image ? image : load_thoroughly(search, error);
}

/* Without a lock the files of a store are read at different times. *ret_again: the search failed, and
 * podman has changed a store meanwhile. */
static StoreImage *search_stores(const StoreConf *conf, const Reference *reference, bool *ret_again, GError **error) {
        g_autoptr(GArray) indexes = g_array_new(FALSE, TRUE, sizeof(Index));
        Search search = { .conf = conf, .reference = reference, .indexes = indexes };
        StoreImage *image;

        g_array_set_clear_func(indexes, clear_index);
        image = search_once(&search, error);
        *ret_again = !image && !indexes_unchanged(&search);
        return image;
}

StoreImage *store_image_find(const char *root, const char *reference, GError **error) {
        g_autoptr(Reference) parsed = reference_parse(reference, error);
        g_autoptr(StoreConf) conf = NULL;
        g_autoptr(GError) local = NULL;
        StoreImage *image;
        bool again;

        if (!parsed)
                return NULL;
        conf = store_conf_load(root, error);
        if (!conf)
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
