/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/config/small-file.h"
#include "libstart/image/copy.h"
#include "libstart/image/local.h"
#include "libstart/image/tool-words.h"
#include "libstart/image/tool.h"
#include "libstart/store/image-list.h"
#include "libstart/store/image.h"
#include "libstart/store/reference.h"
#include "libstart/store/store-conf.h"

char *local_find(const char *name, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_autoptr(StoreImage) image = store_image_find("", name, NULL, &problem);

        if (g_error_matches(problem, KT_ERROR, KT_ERROR_FAILED))
                g_propagate_error(error, g_steal_pointer(&problem));
        return image ? g_steal_pointer(&image->id) : NULL;
}

bool local_has_digest(const char *name, const char *digest, const char *id) {
        g_autoptr(Reference) reference = reference_parse(name, NULL);
        g_autofree char *whole = NULL, *found = NULL;

        if (!reference || !reference->repository)
                return false;
        whole = g_strconcat(reference->repository, "@", digest, NULL);
        found = local_find(whole, NULL);
        return found && g_strcmp0(found, id) == 0;
}

/* Not that of a pull, which may begin at any time. */
static char *find_place(const char *name) {
        return g_strconcat("tag ", name, NULL);
}

void local_forget(const char *name) {
        g_autofree char *place = find_place(name);

        copy_forget(place);
}

static bool copy(const char *id, const char *name, GError **error) {
        g_autofree char *from = g_strconcat(LOCAL_STORE "@", id, NULL), *to = g_strconcat(LOCAL_STORE, name, NULL);
        g_autofree char *place = find_place(name);
        g_autoptr(GPtrArray) words = tool_words("skopeo", "copy", from, to, NULL);

        return copy_run(words, /* podman= */ false, place, name, error);
}

static bool delete(const char *id, GError **error) {
        g_autofree char *image = g_strconcat(LOCAL_STORE "@", id, NULL);
        g_autoptr(GPtrArray) words = tool_words("skopeo", "delete", image, NULL);

        return tool_run(words, "Removing an image", /* has_deadline= */ true, error);
}

bool local_tag(const char *id, const char *name, const char *other, GError **error) {
        g_autoptr(StoreImage) image = store_image_find("", id, NULL, error);
        g_autofree char *found = local_find(name, NULL);

        if (image && g_strcmp0(found, id) == 0)
                return true;
        if (!image || !(image->writable_store ? copy(id, name, error) : !other || delete (other, error)))
                return false;
        g_free(found);
        found = local_find(name, NULL);
        return g_strcmp0(found, id) == 0 ||
               error_set(error, KT_ERROR_FAILED, "'%s' is still another image than %.12s", name, id);
}

/* *ret is NULL where there is no list. */
static bool read_list(char **ret, GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load("", NULL, error);
        g_autofree char *path = conf ? g_build_filename(conf->stores[0], "overlay-images", "images.json", NULL) :
                                       NULL;

        return path && file_read(path, ret, NULL, error);
}

char *local_list(void) {
        char *text = NULL;

        return read_list(&text, NULL) ? text : NULL;
}

char *local_find_listed(const char *name) {
        g_autofree char *text = local_list();
        char *found = NULL;
        g_autoptr(ImageList) list = text ? image_list_parse(text, strlen(text), NULL) : NULL;

        for (guint i = 0; list && !found && i < list->records->len; i++) {
                const ImageRecord *record = list->records->pdata[i];

                if (image_record_has_name(record, name))
                        found = g_strdup(record->id);
        }
        return found;
}

bool local_is_of_no_use(const char *name) {
        g_autoptr(GError) error = NULL;
        g_autofree char *usable = local_find(name, &error), *torn = error ? local_find_listed(name) : NULL;

        return torn;
}

/* How many names the image has in what local_list() has returned; -1: it is not there. */
static bool count_names(const char *text, const char *id, int *ret, GError **error) {
        g_autoptr(ImageList) list = text ? image_list_parse(text, strlen(text), error) : NULL;

        *ret = -1;
        for (guint i = 0; list && i < list->records->len; i++) {
                const ImageRecord *record = list->records->pdata[i];

                if (image_record_has_id(record, id)) {
                        *ret = (int) record->names->len;
                        break;
                }
        }
        return list || !text;
}

static bool count_names_now(const char *id, int *ret, GError **error) {
        g_autofree char *text = NULL;

        return read_list(&text, error) && count_names(text, id, ret, error);
}

/* Nothing is to be done where it has gone, or has more names. */
static bool remove_once(const char *id, int names_max, GError **error) {
        int names;

        return count_names_now(id, &names, error) && (names < 0 || names > names_max || delete (id, error));
}

#define REMOVALS_MAX 3

/* Whoever else is at work in the store lets go of it soon. */
static bool remove_patiently(const char *id, int names_max, GError **error) {
        for (int i = 1; i < REMOVALS_MAX; i++, g_usleep(G_USEC_PER_SEC / 4))
                if (remove_once(id, names_max, NULL))
                        return true;
        return remove_once(id, names_max, error);
}

bool local_remove(const char *id, GError **error) {
        return remove_patiently(id, /* names_max= */ 0, error);
}

bool local_take_back(const char *name, const char *before, const char *list) {
        g_autofree char *now = local_find(name, NULL);
        g_autoptr(GError) error = NULL;
        int then, names;

        if (!now)
                now = local_find_listed(name);
        if (!now || g_strcmp0(now, before) == 0 || (count_names(list, now, &then, NULL) && then > 0))
                return false;
        if (count_names_now(now, &names, &error)) {
                if (names != 1)
                        return false;
                if ((!before || local_tag(before, name, /* other= */ now, &error)) &&
                    remove_patiently(now, /* names_max= */ 1, &error))
                        /* Not where somebody has named it meanwhile. */
                        return count_names_now(now, &names, NULL) && names < 0;
        }
        log_warning("Image %.12s, which came as '%s', cannot be removed, and may be damaged: %s", now, name,
                    error->message);
        return false;
}
