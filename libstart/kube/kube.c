/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/kube/kube.h"

static void free_data(void *item) {
        KubeData *data = item;

        g_free(data->path);
        g_bytes_unref(data->bytes);
        g_free(data);
}

Kube *kube_new(void) {
        Kube *kube = g_new0(Kube, 1);

        kube->pod_lines = g_array_new(FALSE, FALSE, sizeof(KubeExtra));
        kube->container_lines = g_array_new(FALSE, FALSE, sizeof(KubeExtra));
        kube->updates = g_array_new(FALSE, FALSE, sizeof(KubeExtra));
        kube->files = g_ptr_array_new_with_free_func(g_free);
        kube->trees = g_ptr_array_new_with_free_func((GDestroyNotify) yaml_tree_free);
        kube->paths = g_hash_table_new(NULL, NULL);
        kube->config_maps = g_hash_table_new(g_str_hash, g_str_equal);
        kube->secrets = g_hash_table_new(g_str_hash, g_str_equal);
        kube->claims = g_hash_table_new(g_str_hash, g_str_equal);
        kube->loose_claims = g_hash_table_new(g_str_hash, g_str_equal);
        kube->pods = g_ptr_array_new();
        kube->written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        kube->output = g_string_new(NULL);
        kube->data = g_ptr_array_new_with_free_func(free_data);
        return kube;
}

void kube_free(Kube *kube) {
        g_array_unref(kube->pod_lines);
        g_array_unref(kube->container_lines);
        g_array_unref(kube->updates);
        g_ptr_array_unref(kube->files);
        g_hash_table_unref(kube->paths);
        g_hash_table_unref(kube->config_maps);
        g_hash_table_unref(kube->secrets);
        g_hash_table_unref(kube->claims);
        g_hash_table_unref(kube->loose_claims);
        g_ptr_array_unref(kube->pods);
        g_hash_table_unref(kube->written);
        g_ptr_array_unref(kube->trees);
        g_ptr_array_unref(kube->data);
        g_string_free(kube->output, TRUE);
        g_free(kube);
}
