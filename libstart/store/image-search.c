/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/store/image-search.h"
#include "libstart/store/short-names.h"

/* What a message names of what is there. */
#define NAMES_MAX 8

/* A store's images.json, as it was when it was read. */
typedef struct Index {
        char *path, *text; /* NULL: there is none */
        size_t length;
        FileIdentity identity;
        ImageList *list; /* all of it, or only the image that was found without parsing the rest, or NULL */
} Index;

typedef bool (*RecordTest)(const ImageRecord *record, const char *what);

static void clear_index(gpointer data) {
        Index *index = data;

        g_free(index->path);
        g_free(index->text);
        g_clear_pointer(&index->list, image_list_free);
}

bool image_search_open(ImageSearch *search, GError **error) {
        search->indexes = g_array_new(FALSE, TRUE, sizeof(Index));
        g_array_set_clear_func(search->indexes, clear_index);
        for (char **store = search->conf->stores; *store; store++) {
                Index *index;

                g_array_set_size(search->indexes, search->indexes->len + 1);
                index = &g_array_index(search->indexes, Index, search->indexes->len - 1);
                index->path = g_strconcat(*store, "/overlay-images/images.json", NULL);
                if (!file_load(index->path, &index->text, &index->length, &index->identity, error)) {
                        bool is_additional = search->indexes->len > search->conf->n_writable;

                        if (is_additional && user_view_is_entered() && access(index->path, R_OK) < 0 &&
                            errno == EACCES)
                                g_prefix_error(error, "An additional store needs a mount with the user's ids "
                                                      "(keyturn-user-generator(8), IMAGES OF THE MACHINE): ");
                        return false;
                }
        }
        return true;
}

void image_search_clear(ImageSearch *search) {
        g_clear_pointer(&search->indexes, g_array_unref);
}

static bool parse_indexes(const ImageSearch *search, GError **error) {
        for (unsigned i = 0; i < search->indexes->len; i++) {
                Index *index = &g_array_index(search->indexes, Index, i);

                g_clear_pointer(&index->list, image_list_free);
                index->list = image_list_parse(index->text, index->length, error);
                if (!index->list)
                        return error_prefix(error,
                                            "'%s' is damaged; move it away, and get the images again: ", index->path);
        }
        return true;
}

bool image_search_is_current(const ImageSearch *search) {
        for (unsigned i = 0; i < search->indexes->len; i++) {
                const Index *index = &g_array_index(search->indexes, Index, i);

                if (!file_unchanged(index->path, &index->identity))
                        return false;
        }
        return true;
}

/* The next record, in the order of the stores, of a match that was zeros before; zeros after the last one. */
static bool go_on(const ImageSearch *search, ImageMatch *match) {
        for (; match->store < search->indexes->len; match->store++, match->next = 0) {
                const ImageList *list = g_array_index(search->indexes, Index, match->store).list;

                if (!list || match->next == list->records->len)
                        continue;
                match->record = list->records->pdata[match->next++];
                return true;
        }
        *match = (ImageMatch) { 0 };
        return false;
}

static bool find_first(const ImageSearch *search, RecordTest test, const char *what, ImageMatch *ret) {
        *ret = (ImageMatch) { 0 };
        while (go_on(search, ret))
                if (test(ret->record, what))
                        return true;
        return false;
}

bool image_search_find_manifest(const ImageSearch *search, const char *digest, ImageMatch *match) {
        ImageMatch found;

        if (!find_first(search, image_record_has_manifest, digest, &found))
                return false;
        match->store = found.store;
        match->record = found.record;
        return true;
}

/* Removing a name from an image of a read-only store leaves a record of the image without that name in
 * the store that podman writes to, and that counts. */
static bool name_was_removed(const ImageSearch *search, const ImageMatch *match) {
        ImageMatch primary;

        return match->store > 0 && match->record->id &&
               find_first(search, image_record_has_id, match->record->id, &primary) && primary.store == 0;
}

static bool find_by_name(const ImageSearch *search, const char *name, ImageMatch *ret) {
        while (go_on(search, ret))
                if (image_record_has_name(ret->record, name) && !name_was_removed(search, ret))
                        return true;
        return false;
}

/* An image with the digest, provided that podman knows it by some name in the repository. */
static bool find_by_digest(const ImageSearch *search, const char *repository, const char *digest, ImageMatch *ret) {
        while (digest && go_on(search, ret))
                if (image_record_has_manifest(ret->record, digest) &&
                    image_record_has_repository(ret->record, repository))
                        return true;
        return false;
}

static bool find_by_id(const ImageSearch *search, ImageMatch *ret, GError **error) {
        const char *prefix = search->reference->id;
        ImageMatch match = { 0 };

        while (prefix && go_on(search, &match)) {
                if (!image_record_has_id_prefix(match.record, prefix))
                        continue;
                if (ret->record && !image_record_has_id(match.record, ret->record->id))
                        return error_set(error, KT_ERROR_USAGE,
                                         "several images have an id that begins with '%s'; give more "
                                         "digits or a name",
                                         prefix);
                if (!ret->record)
                        *ret = match;
        }
        if (ret->record)
                ret->name = g_strdup(ret->record->id);
        return true;
}

static char **repositories(const ImageSearch *search, GError **error) {
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

/* Of "registry/path/name:tag" the name. Transfer full. */
static char *last_component(const char *name) {
        const char *slash = strrchr(name, '/');

        name = slash ? slash + 1 : name;
        return g_strndup(name, strcspn(name, ":@"));
}

/* Names of images that are there: those with this last component, NULL: all. */
static GPtrArray *list_names(const ImageSearch *search, const char *component) {
        GPtrArray *names = g_ptr_array_new();
        ImageMatch match = { 0 };

        while (go_on(search, &match))
                for (guint i = 0; i < match.record->names->len; i++) {
                        char *name = match.record->names->pdata[i];
                        g_autofree char *last = last_component(name);

                        if ((!component || g_str_equal(last, component)) &&
                            !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                                g_ptr_array_add(names, name);
                }
        return names;
}

/* What else of that name is there; if there is nothing, what there is. Transfer full. */
static char *describe_names(const ImageSearch *search) {
        const char *repository = search->reference->repository;
        g_autofree char *component = repository ? last_component(repository) : NULL;
        g_autoptr(GPtrArray) names = list_names(search, component);
        GString *text = g_string_new(NULL);

        if (names->len == 0) {
                g_ptr_array_unref(names);
                names = list_names(search, NULL);
        }
        for (guint i = 0; i < MIN(names->len, NAMES_MAX); i++)
                g_string_append_printf(text, "%s'%s'", i > 0 ? ", " : "; there is ", (char *) names->pdata[i]);
        if (names->len > NAMES_MAX)
                g_string_append_printf(text, " and %u more", names->len - NAMES_MAX);
        return g_string_free(text, FALSE);
}

/* Where that may be why. Transfer full. */
static char *describe_missing(const StoreConf *conf) {
        GString *text = g_string_new(NULL);

        for (char **store = conf->stores + conf->n_writable; *store; store++)
                if (access(*store, F_OK) < 0 && errno == ENOENT)
                        g_string_append_printf(text, "; '%s' is not there", *store);
        return g_string_free(text, FALSE);
}

static bool set_not_found(const ImageSearch *search, GPtrArray *tried, GError **error) {
        g_autofree char *stores = g_strjoinv("', '", search->conf->stores);
        g_autofree char *there = describe_names(search), *missing = describe_missing(search->conf);
        g_autofree char *names = NULL;

        if (tried->len == 0)
                g_ptr_array_add(tried, g_strdup(search->reference->id));
        g_ptr_array_add(tried, NULL);
        names = g_strjoinv("', '", (char **) tried->pdata);
        return error_set(
                error, KT_ERROR_NOT_FOUND,
                "it is not in the image stores (looked for '%s' in '%s'%s)%s; get it with 'podman pull', or put "
                "it into a store of 'additionalimagestores' in storage.conf",
                names, stores, missing, there);
}

/* Podman's order: names before the beginnings of ids. */
bool image_search_find(const ImageSearch *search, ImageMatch *ret, GError **error) {
        const Reference *reference = search->reference;
        g_autoptr(GPtrArray) tried = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) candidates = NULL;

        *ret = (ImageMatch) { 0 };
        if (!parse_indexes(search, error) || (reference->repository && !(candidates = repositories(search, error))))
                return false;
        for (char **repository = candidates; repository && *repository; repository++) {
                g_autofree char *name = reference_name(reference, *repository);

                if (find_by_name(search, name, ret) || find_by_digest(search, *repository, reference->digest, ret)) {
                        ret->name = g_steal_pointer(&name);
                        return true;
                }
                g_ptr_array_add(tried, g_steal_pointer(&name));
        }
        return find_by_id(search, ret, error) && (ret->record || set_not_found(search, tried, error));
}

/* A name that says all, as in nearly every unit, without parsing the lists of images. A later store only
 * counts where the first one, in which podman notes what it takes from the others, knows nothing of the
 * image: see name_was_removed(). */
bool image_search_find_quickly(const ImageSearch *search, ImageMatch *ret) {
        const Reference *reference = search->reference;
        const Index *first = &g_array_index(search->indexes, Index, 0);

        *ret = (ImageMatch) { 0 };
        if (!reference->repository || reference->is_short || reference->digest)
                return false;

        g_autofree char *name = reference_name(reference, reference->repository);
        for (unsigned store = 0; store < search->indexes->len; store++) {
                Index *index = &g_array_index(search->indexes, Index, store);

                if (index->text)
                        index->list = image_list_find_name(index->text, index->length, name);
                if (!index->list)
                        continue;
                ret->store = store;
                ret->record = index->list->records->pdata[0];
                ret->name = g_steal_pointer(&name);
                return ret->record->id &&
                       (store == 0 || !first->text ||
                        !memmem(first->text, first->length, ret->record->id, strlen(ret->record->id)));
        }
        return false;
}
