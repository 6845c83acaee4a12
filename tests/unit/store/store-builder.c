/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/own-tree.h"
#include "tests/unit/store/store-builder.h"

typedef struct BuilderStore {
        char *path; /* below the root */
        GString *records;
} BuilderStore;

static void builder_store_free(gpointer data) {
        BuilderStore *store = data;

        g_free(store->path);
        g_string_free(store->records, TRUE);
        g_free(store);
}

void built_image_free(BuiltImage *image) {
        if (!image)
                return;
        g_free(image->id);
        g_free(image->digest);
        g_free(image->config);
        g_strfreev(image->layers);
        g_strfreev(image->directories);
        g_free(image);
}

void store_builder_write(StoreBuilder *builder, const char *path, const char *text) {
        own_tree_put(builder->root, path, text);
}

static void write_storage_conf(StoreBuilder *builder) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (unsigned i = 0; i < builder->stores->len; i++) {
                const BuilderStore *store = builder->stores->pdata[i];

                if (i == 0)
                        g_string_append_printf(text, "[storage]\ndriver = \"overlay\"\ngraphroot = \"%s\"\n",
                                               store->path);
                else
                        g_string_append_printf(text, "%s\"%s\"",
                                               i == 1 ? "[storage.options]\nadditionalimagestores = [\n" : ",\n",
                                               store->path);
        }
        g_string_append(text, builder->stores->len > 1 ? "]\n" : "");
        store_builder_write(builder, "etc/containers/storage.conf", text->str);
}

StoreBuilder *store_builder_new(const char *const *stores) {
        StoreBuilder *builder = g_new0(StoreBuilder, 1);

        builder->root = g_dir_make_tmp("keyturn-store-XXXXXX", NULL);
        ck_assert_ptr_nonnull(builder->root);
        builder->stores = g_ptr_array_new_with_free_func(builder_store_free);
        for (; *stores; stores++) {
                BuilderStore *store = g_new0(BuilderStore, 1);

                store->path = g_strdup(*stores);
                store->records = g_string_new(NULL);
                g_ptr_array_add(builder->stores, store);
        }
        write_storage_conf(builder);
        return builder;
}

void store_builder_free(StoreBuilder *builder) {
        if (!builder)
                return;
        own_tree_remove(builder->root);
        g_ptr_array_unref(builder->stores);
        g_free(builder);
}

void store_builder_add_record(StoreBuilder *builder, unsigned i, const char *record) {
        BuilderStore *store = builder->stores->pdata[i];
        g_autofree char *path = g_strconcat(store->path, "/overlay-images/images.json", NULL);

        g_string_append_printf(store->records, "%s%s", store->records->len > 0 ? "," : "", record);
        g_autofree char *text = g_strdup_printf("[%s]", store->records->str);
        store_builder_write(builder, path, text);
}

static char *sha256(const char *text) {
        return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

static void write_big_data(StoreBuilder *builder, const char *store, const char *id, const char *key,
                           const char *text) {
        g_autofree char *encoded = g_base64_encode((const guchar *) key, strlen(key));
        g_autofree char *path = g_strconcat(store, "/overlay-images/", id, "/", strchr(key, ':') ? "=" : "",
                                            strchr(key, ':') ? encoded : key, NULL);

        store_builder_write(builder, path, text);
}

/* Writes a layer; below: what its file "lower" says, replaced by what that of the next one must say. */
static void write_layer(StoreBuilder *builder, const char *store, const char *id, char **below) {
        g_autofree char *link = g_ascii_strup(id, 26);
        g_autofree char *directory = g_strconcat(store, "/overlay/", id, NULL);
        g_autofree char *marker = g_strconcat(directory, "/diff/", id, NULL);
        g_autofree char *link_file = g_strconcat(directory, "/link", NULL);
        g_autofree char *lower_file = g_strconcat(directory, "/lower", NULL);
        g_autofree char *links = g_strconcat(builder->root, store, "/overlay/l", NULL);
        g_autofree char *link_path = g_strconcat(links, "/", link, NULL);
        g_autofree char *target = g_strconcat("../", id, "/diff", NULL);

        store_builder_write(builder, marker, "");
        store_builder_write(builder, link_file, link);
        if (*below)
                store_builder_write(builder, lower_file, *below);
        ck_assert_int_eq(g_mkdir_with_parents(links, 0755), 0);
        (void) unlink(link_path);
        ck_assert_int_eq(symlink(target, link_path), 0);

        char *next = *below ? g_strconcat("l/", link, ":", *below, NULL) : g_strconcat("l/", link, NULL);
        g_free(*below);
        *below = next;
}

/* Makes the layers and returns the list of their digests as JSON. */
static char *write_layers(StoreBuilder *builder, unsigned store, const char *seed, unsigned n, unsigned layer_store,
                          BuiltImage *image) {
        g_autoptr(GString) diff_ids = g_string_new(NULL);
        g_autofree char *below = NULL;

        image->layers = g_new0(char *, n + 1);
        image->directories = g_new0(char *, n + 1);
        for (unsigned i = 0; i < n; i++) {
                const BuilderStore *where = builder->stores->pdata[i + 1 < n ? layer_store : store];
                g_autofree char *content = g_strdup_printf("%s %u", seed, i);
                g_autofree char *diff_id = sha256(content);
                g_autofree char *both = i > 0 ? g_strconcat(image->layers[i - 1], "+", diff_id, NULL) : NULL;

                image->layers[i] = both ? sha256(both) : g_strdup(diff_id);
                image->directories[i] = g_strconcat(builder->root, where->path, "/overlay/", image->layers[i], NULL);
                write_layer(builder, where->path, image->layers[i], &below);
                g_string_append_printf(diff_ids, "%s\"sha256:%s\"", i > 0 ? "," : "", diff_id);
        }
        return g_string_free(g_steal_pointer(&diff_ids), FALSE);
}

static void write_manifest(StoreBuilder *builder, const char *store, BuiltImage *image, const char *manifest) {
        g_autofree char *digits = sha256(manifest);
        g_autofree char *key = g_strconcat("manifest-sha256:", digits, NULL);

        image->digest = g_strconcat("sha256:", digits, NULL);
        write_big_data(builder, store, image->id, "manifest", manifest);
        write_big_data(builder, store, image->id, key, manifest);
}

BuiltImage *store_builder_add(StoreBuilder *builder, unsigned i, const char *names, const char *seed,
                              unsigned n_layers, unsigned layer_store) {
        const BuilderStore *store = builder->stores->pdata[i];
        g_autoptr(BuiltImage) image = g_new0(BuiltImage, 1);
        g_autofree char *diff_ids = write_layers(builder, i, seed, n_layers, layer_store, image);

        g_autofree char *before = g_strdup_printf(
                "{\"architecture\": \"amd64\", \"os\": \"linux\", \"config\": {\"Cmd\": [\"%s\"]}, "
                "\"history\": [",
                seed);
        g_autofree char *after = g_strdup_printf("], \"rootfs\": {\"type\": \"layers\", \"diff_ids\": [%s]}}",
                                                 diff_ids);
        g_autofree char *config = g_strconcat(before, "{\"created_by\": \"COPY x /\"}, {}", after, NULL);
        image->config = g_strconcat(before, after, NULL);
        image->id = sha256(config);
        g_autofree char *config_key = g_strconcat("sha256:", image->id, NULL);
        g_autofree char *manifest = g_strdup_printf(
                "{\"schemaVersion\": 2, \"config\": {\"digest\": \"%s\"}, \"layers\": []}", config_key);

        write_big_data(builder, store->path, image->id, config_key, config);
        write_manifest(builder, store->path, image, manifest);
        g_autofree char *record = g_strdup_printf(
                "{\"id\":\"%s\",\"digest\":\"%s\",\"names\":[%s],\"layer\":\"%s\","
                "\"big-data-digests\":{\"manifest\":\"%s\",\"manifest-%s\":\"%s\",\"%s\":\"%s\"}}",
                image->id, image->digest, names, image->layers[n_layers - 1], image->digest, image->digest,
                image->digest, config_key, config_key);
        store_builder_add_record(builder, i, record);
        return g_steal_pointer(&image);
}

BuiltImage *store_builder_add_list(StoreBuilder *builder, unsigned i, const char *names, const char *manifests) {
        const BuilderStore *store = builder->stores->pdata[i];
        g_autoptr(BuiltImage) image = g_new0(BuiltImage, 1);
        g_autofree char *manifest = g_strdup_printf("{\"schemaVersion\": 2, \"manifests\": [%s]}", manifests);

        image->id = sha256(names);
        write_manifest(builder, store->path, image, manifest);
        g_autofree char *record = g_strdup_printf("{\"id\":\"%s\",\"digest\":\"%s\",\"names\":[%s],"
                                                  "\"big-data-digests\":{\"manifest\":\"%s\"}}",
                                                  image->id, image->digest, names, image->digest);
        store_builder_add_record(builder, i, record);
        return g_steal_pointer(&image);
}
