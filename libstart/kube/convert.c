/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/convert.h"
#include "libstart/kube/fields.h"
#include "libstart/kube/output.h"
#include "libstart/kube/parts.h"

static const char *name_of(Kube *kube, const YamlNode *object) {
        const YamlNode *metadata = yaml_node_get(object, "metadata");
        const char *name = kube_text(kube, metadata, "name");

        if (name && kube_is_name(name))
                return name;
        kube_error(kube, metadata ?: object, KUBE_NAME_RULE);
        return NULL;
}

static const KubeField map_others[] = { { "apiVersion immutable", KUBE_SILENT, NULL }, { 0 } };
static const KubeField secret_others[] = { { "apiVersion immutable type", KUBE_SILENT, NULL }, { 0 } };

/* One that nobody reads is one that would be missing. */
static void add_map(Kube *kube, GHashTable *table, const char *read, const KubeField *others,
                    const YamlNode *object) {
        const char *name = name_of(kube, object);

        kube_check(kube, object, read, others);
        if (name && !g_hash_table_insert(table, (char *) name, (YamlNode *) object))
                kube_error(kube, object, "there is another one of the name '%s'", name);
}

static bool makes_pod(const char *kind) {
        static const char *const kinds[] = { "Pod", "Deployment", "DaemonSet", "Job", NULL };

        return g_strv_contains(kinds, kind);
}

static void add_object(Kube *kube, const char *path, const YamlNode *object, bool only_maps) {
        const char *kind;

        g_hash_table_insert(kube->paths, (YamlNode *) object, (char *) path);
        kind = kube_text(kube, object, "kind");
        if (!kind)
                kube_error(kube, object, "this document has no kind: it is no object of Kubernetes");
        else if (g_str_equal(kind, "ConfigMap"))
                add_map(kube, kube->config_maps, "kind metadata data binaryData", map_others, object);
        else if (only_maps)
                kube_error(kube, object, "a %s is here, where ConfigMap= names files of ConfigMaps only", kind);
        else if (g_str_equal(kind, "Secret"))
                add_map(kube, kube->secrets, "kind metadata data stringData", secret_others, object);
        else if (g_str_equal(kind, "PersistentVolumeClaim"))
                add_map(kube, kube->claims, "kind metadata spec", kube_object_others, object);
        else if (!makes_pod(kind))
                kube_warning(kube, object, "a %s is ignored: it is nothing that runs", kind);
        else if (name_of(kube, object))
                g_ptr_array_add(kube->pods, (YamlNode *) object);
}

void kube_add(Kube *kube, const char *path, const char *text, gsize length, bool only_maps) {
        g_autoptr(GError) error = NULL;
        YamlTree *tree = yaml_tree_parse(text, length, &error);

        if (!tree) {
                kube_error_text(kube, path, error->message);
                return;
        }
        g_ptr_array_add(kube->trees, tree);
        for (guint i = 0; i < tree->documents->len; i++)
                add_object(kube, path, tree->documents->pdata[i], only_maps);
}

static const KubeField claim_others[] = {
        { "storageClassName", KUBE_IGNORED, "a volume is a directory of this machine" },
        { "accessModes", KUBE_SILENT, NULL },
        { "resources", KUBE_IGNORED, "the size of a volume is that of its file system" },
        { "volumeMode", KUBE_IGNORED, "a volume is a directory" },
        { "volumeName", KUBE_REFUSED, "claims are volumes by their own name" },
        { "selector", KUBE_REFUSED, "there is nothing to choose from" },
        { 0 },
};

/* What Podman reads of a claim's annotations, and the key that says the same. */
static void put_claim(Kube *kube, const char *name, const YamlNode *claim) {
        static const char *const keys[][2] = { { "volume.podman.io/device", "Device" },
                                               { "volume.podman.io/type", "Type" },
                                               { "volume.podman.io/uid", "UID" },
                                               { "volume.podman.io/gid", "GID" },
                                               { "volume.podman.io/mount-options", "Options" },
                                               { "volume.podman.io/driver", "Driver" } };
        const YamlNode *object = claim->parent ? NULL : claim, /* else a pod names it, and there is none */
                *annotations = yaml_node_get(yaml_node_get(object, "metadata"), "annotations");
        KubeFile file;

        kube_check(kube, yaml_node_get(object, "spec"), "", claim_others);
        kube_file_begin(&file, kube, g_strdup_printf("%s-%s.volume", kube->stem, name), "Volume", claim);
        kube_line(&file, claim, "VolumeName", "%s", name);
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                const char *value = kube_text(kube, annotations, keys[i][0]);

                if (value)
                        kube_line(&file, yaml_node_get(annotations, keys[i][0]), keys[i][1], "%s", value);
        }
        kube_file_end(&file);
}

static void put_claims(Kube *kube, GHashTable *claims) {
        g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(claims), (GCompareFunc) strcmp);

        for (GList *name = names; name; name = name->next)
                put_claim(kube, name->data, g_hash_table_lookup(claims, name->data));
}

/* Pods of one file find each other by name, which Podman's own bridge does not offer. */
static void put_network(Kube *kube) {
        KubeFile file;

        if (kube->pods->len < 2)
                return;
        kube_file_begin(&file, kube, g_strdup_printf("%s-pods.network", kube->stem), "Network", kube->pods->pdata[0]);
        kube_line(&file, NULL, "NetworkName", "systemd-%s-pods", kube->stem);
        kube_file_end(&file);
}

/* What a typing error has left without updates. */
static void check_updates(Kube *kube) {
        for (guint i = 0; i < kube->updates->len; i++) {
                const KubeExtra *update = &g_array_index(kube->updates, KubeExtra, i);
                g_autofree char *text = g_strdup_printf("%u:0: 'AutoUpdate=': '%s': no container of the YAML has "
                                                        "this name",
                                                        update->number, update->text);

                if (!update->is_used && strchr(update->text, '/'))
                        kube_error_text(kube, kube->path, text);
        }
}

void kube_convert(Kube *kube) {
        put_claims(kube, kube->claims);
        if (!kube_has_pod_line(kube, "Network="))
                put_network(kube);
        for (guint i = 0; i < kube->pods->len; i++)
                kube_pod(kube, kube->pods->pdata[i]);
        put_claims(kube, kube->loose_claims); /* Podman makes and removes their volumes all the same */
        if (!kube->failed)                    /* else not every container has been looked at */
                check_updates(kube);
        if (kube->pods->len == 0 && !kube->failed)
                kube_error_text(kube, kube->path, "no file of Yaml= has a Pod, a Deployment, a DaemonSet or a Job");
}
