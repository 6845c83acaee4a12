/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/store/layers.h"
#include "libstart/store/manifest.h"

/* The kernel's limit for lower directories of one overlay, which is podman's limit too. */
#define LAYERS_MAX 500

/* STORE/overlay of one store. Everything is looked up from the descriptor: from the root it would be eight
 * names each time, and there are three look-ups per layer. */
typedef struct Overlay {
        char *path;
        int fd; /* -1: there is none */
} Overlay;

static void clear_overlay(gpointer data) {
        Overlay *overlay = data;

        g_free(overlay->path);
        fd_closep(&overlay->fd);
}

/* Of the text of a link only the 64 digits of the id are used, so that no link leads out of the store. */
typedef struct Layer {
        char id[64 + 1];
        const Overlay *overlay; /* it is overlay->path/id */
} Layer;

static GArray *open_overlays(char *const *stores, GError **error) {
        g_autoptr(GArray) overlays = g_array_new(FALSE, FALSE, sizeof(Overlay));

        g_array_set_clear_func(overlays, clear_overlay);
        for (; *stores; stores++) {
                Overlay overlay = { .path = g_strconcat(*stores, "/overlay", NULL) };

                overlay.fd = open(overlay.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
                g_array_append_val(overlays, overlay);
                if (overlay.fd < 0 && errno != ENOENT && errno != ENOTDIR)
                        return error_null_errno(error, errno, "Cannot open '%s'", overlay.path);
        }
        return g_steal_pointer(&overlays);
}

/* False, with errno, where ID/NAME is not there. name: "" for the layer's directory. */
static bool look_at(const Overlay *overlay, const char *id, const char *name, struct stat *ret) {
        g_autofree char *path = g_strconcat(id, *name ? "/" : "", name, NULL);

        return fstatat(overlay->fd, path, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

static const Overlay *find_overlay(const GArray *overlays, const char *id) {
        for (unsigned i = 0; i < overlays->len; i++) {
                const Overlay *overlay = &g_array_index(overlays, Overlay, i);
                struct stat st;

                if (overlay->fd >= 0 && look_at(overlay, id, "", &st) && S_ISDIR(st.st_mode))
                        return overlay;
        }
        return NULL;
}

static void add_layer(GArray *layers, const char *id, const Overlay *overlay) {
        Layer layer = { .overlay = overlay };

        g_strlcpy(layer.id, id, sizeof layer.id);
        g_array_append_val(layers, layer);
}

/* Names in overlay/l are 26 letters and digits; all that matters is that they do not lead elsewhere. */
static bool link_name_is_valid(const char *name) {
        return *name && *name != '.' && strlen(name) <= NAME_MAX && !strchr(name, '/');
}

/* The 64 digits of "../ID/diff". */
static char *link_target_id(const char *target) {
        const char *id = target + strlen("../");
        g_autofree char *copy = NULL;

        if (!g_str_has_prefix(target, "../") || strlen(id) < 64 || strcmp(id + 64, "/diff") != 0)
                return NULL;
        copy = g_strndup(id, 64);
        return id_is_valid(copy) ? g_steal_pointer(&copy) : NULL;
}

/* Follows STORE/overlay/l/NAME. True without a layer added: this store does not have the link. */
static bool follow_link(GArray *layers, const Overlay *overlay, const char *entry, bool *ret_found, GError **error) {
        char target[sizeof("../") + 64 + sizeof("/diff")] = "";

        *ret_found = false;
        if (overlay->fd < 0)
                return true;
        if (readlinkat(overlay->fd, entry, target, sizeof(target) - 1) < 0) {
                if (errno == ENOENT || errno == ENOTDIR)
                        return true;
                return error_set_errno(error, errno, "Cannot read the link '%s/%s'", overlay->path, entry);
        }
        g_autofree char *id = link_target_id(target);
        if (!id)
                return error_set(error, KT_ERROR_FAILED, "'%s/%s' does not point to a layer's directory",
                                 overlay->path, entry);
        add_layer(layers, id, overlay);
        *ret_found = true;
        return true;
}

/* A power cut can lose the links in overlay/l, which podman then makes again. Which layer it was is known
 * from the image's configuration, and the layer's own directory remembers the name of its link. */
static bool find_without_link(GArray *layers, const GArray *overlays, const char *name, const char *expected_id,
                              GError **error) {
        const Overlay *overlay = find_overlay(overlays, expected_id);

        if (overlay) {
                g_autofree char *path = g_strconcat(overlay->path, "/", expected_id, "/link", NULL);
                g_autofree char *text = NULL;

                if (!file_read(path, &text, NULL, error))
                        return false;
                if (text && strcmp(g_strchomp(text), name) == 0) {
                        add_layer(layers, expected_id, overlay);
                        return true;
                }
        }
        return error_set(error, KT_ERROR_FAILED, "the link 'overlay/l/%s' to a layer is in none of the stores", name);
}

static bool add_lower(GArray *layers, const GArray *overlays, const char *entry, const char *expected_id,
                      GError **error) {
        const char *name = entry + strlen("l/");
        bool found = false;

        if (!g_str_has_prefix(entry, "l/") || !link_name_is_valid(name))
                return error_set(error, KT_ERROR_FAILED, "'%s' in the list of lower layers is no link", entry);
        for (unsigned i = 0; i < overlays->len && !found; i++)
                if (!follow_link(layers, &g_array_index(overlays, Overlay, i), entry, &found, error))
                        return false;
        return found || find_without_link(layers, overlays, name, expected_id, error);
}

/* Reads the file that lists what lies below the uppermost layer; the lowermost layer has none. */
static bool add_lowers(GArray *layers, const GArray *overlays, char *const *chain_ids, unsigned n, GError **error) {
        const Layer *top = &g_array_index(layers, Layer, 0);
        g_autofree char *path = g_strconcat(top->overlay->path, "/", top->id, "/lower", NULL);
        g_autofree char *text = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        g_auto(GStrv) entries = g_strsplit(text ? g_strchomp(text) : "", ":", -1);
        if (g_strv_length(entries) + 1 != n)
                return error_set(error, KT_ERROR_FAILED, "the image's configuration has %u layers, and the store %u",
                                 n, g_strv_length(entries) + 1);
        for (unsigned i = 0; entries[i]; i++)
                if (!add_lower(layers, overlays, entries[i], chain_ids[n - 2 - i], error))
                        return false;
        return true;
}

/* Layers that were pulled as a whole have ids that follow from the image's configuration: if the uppermost has its
 * own, all must. Otherwise some layer was pulled in parts, and all that can be checked is that none is there twice.
 */
static bool check_chain(const GArray *layers, char *const *chain_ids, GError **error) {
        unsigned n = layers->len;
        bool computed = strcmp(g_array_index(layers, Layer, 0).id, chain_ids[n - 1]) == 0;
        g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);

        for (unsigned i = 0; i < n; i++) {
                const char *id = g_array_index(layers, Layer, i).id;

                if (computed && strcmp(id, chain_ids[n - 1 - i]) != 0)
                        return error_set(error, KT_ERROR_FAILED,
                                         "layer %u is '%s', and by the image's configuration it is '%s'", n - i, id,
                                         chain_ids[n - 1 - i]);
                if (!g_hash_table_add(ids, (gpointer) id))
                        return error_set(error, KT_ERROR_FAILED, "layer '%s' is there twice", id);
        }
        return true;
}

#define NOBODY 65534 /* as whom a user's namespace shows all ids that it has not */

/* An overlay would show its files as nobody's, in directories that only nobody can write to; Podman does not start
 * from it either. What is in a layer may be of an id of that number; its directory is of whoever made the store. */
static bool is_of_others(const Layer *layer, const struct stat *diff) {
        struct stat st;

        return diff->st_uid == NOBODY && user_view_is_entered() && look_at(layer->overlay, layer->id, "", &st) &&
               st.st_uid == NOBODY;
}

/* The path that can be mounted. */
static char *check_layer(const Layer *layer, GError **error) {
        g_autofree char *path = g_strconcat(layer->overlay->path, "/", layer->id, "/diff", NULL);
        struct stat st, data;

        if (!look_at(layer->overlay, layer->id, "diff", &st))
                error_set(error, KT_ERROR_FAILED, "layer '%s' is missing: %s", path, g_strerror(errno));
        else if (S_ISLNK(st.st_mode))
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "layer '%s' is in an additional layer store, which keyturn cannot read", path);
        else if (!S_ISDIR(st.st_mode))
                error_set(error, KT_ERROR_FAILED, "layer '%s' is not a directory", path);
        else if (look_at(layer->overlay, layer->id, "composefs-data", &data))
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "layer '%s' is in composefs form, which keyturn cannot mount; pull the image with "
                          "'use_composefs' off in storage.conf",
                          path);
        else if (is_of_others(layer, &st))
                error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "layer '%s' belongs to an id that this user has not: mount the store once more, with her ids "
                        "(keyturn-user-generator(8), IMAGES OF THE MACHINE), and name that place in storage.conf",
                        path);
        else
                return g_steal_pointer(&path);
        return NULL;
}

char **layers_find(char *const *stores, const char *top, char *const *chain_ids, GError **error) {
        unsigned n = g_strv_length((char **) chain_ids);
        g_autoptr(GArray) layers = g_array_new(FALSE, FALSE, sizeof(Layer));
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);

        if (n > LAYERS_MAX)
                return error_null(error, KT_ERROR_UNSUPPORTED, "it has %u layers, and overlayfs can only have %d", n,
                                  LAYERS_MAX);
        g_autoptr(GArray) overlays = open_overlays(stores, error);
        if (!overlays)
                return NULL;
        const Overlay *overlay = find_overlay(overlays, top);
        if (!overlay)
                return error_null(error, KT_ERROR_FAILED, "its uppermost layer '%s' is in none of the stores", top);
        add_layer(layers, top, overlay);
        if (!add_lowers(layers, overlays, chain_ids, n, error) || !check_chain(layers, chain_ids, error))
                return NULL;

        for (unsigned i = 0; i < n; i++) {
                char *path = check_layer(&g_array_index(layers, Layer, i), error);

                if (!path)
                        return NULL;
                g_ptr_array_add(paths, path);
        }
        g_ptr_array_add(paths, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&paths), FALSE);
}
