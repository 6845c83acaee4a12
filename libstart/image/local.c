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

        return tool_run(words, "Removing an image", error);
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

static bool has_name(const char *store, const char *id) {
        g_autofree char *path = g_build_filename(store, "overlay-images", "images.json", NULL), *text = NULL;
        g_autoptr(ImageList) list = NULL;
        size_t length = 0;

        if (!file_read(path, &text, &length, NULL) || !text)
                return true;
        list = image_list_parse(text, length, NULL);
        for (guint i = 0; list && i < list->records->len; i++) {
                const ImageRecord *record = list->records->pdata[i];

                if (image_record_has_id(record, id))
                        return record->names && record->names->len > 0;
        }
        return true; /* it is not here */
}

bool local_remove(const char *id, GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load("", NULL, error);

        if (!conf)
                return false;
        if (has_name(conf->stores[0], id))
                return true;
        return delete (id, error);
}

bool local_take_back(const char *name, const char *before) {
        g_autofree char *now = local_find(name, NULL);
        g_autoptr(GError) error = NULL;

        if (!now || g_strcmp0(now, before) == 0)
                return false;
        if (before ? local_tag(before, name, /* other= */ now, &error) && local_remove(now, &error) :
                     delete (now, &error))
                return true;
        log_warning(
                "Image '%s' stays, and may be damaged: remove it (podman rmi, skopeo delete) before it is used: %s",
                name, error->message);
        return false;
}
