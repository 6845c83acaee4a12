/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/string-prefix.h"
#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"

#define PODMAN "io.podman.annotations."
#define UPDATE "io.containers.autoupdate"

/* What `podman kube generate` writes of each container, mostly with FALSE, and what podman-kube-play(1) reads. */
static const struct {
        const char *name;
        const char *key, *prefix; /* the line that it becomes; NULL: it means nothing here */
} of_containers[] = {
        { "autoremove", NULL, NULL },
        { "cid-file", NULL, NULL },
        { "infra.name", NULL, NULL },
        { "init.container.type", NULL, NULL },
        { "kube.health.check", NULL, NULL },
        { "userns", NULL, NULL }, /* of the pod */
        { "cpuset", "PodmanArgs", "--cpuset-cpus=" },
        { "memory-nodes", "PodmanArgs", "--cpuset-mems=" },
        { "pids-limit", "PidsLimit", "" },
        { "label", "PodmanArgs", "--security-opt=label=" },
};

static bool is_false(const char *value) {
        return g_ascii_strcasecmp(value, "false") == 0;
}

static void refuse(Kube *kube, const YamlNode *node) {
        kube_error(kube, node, "this annotation is not supported: write what it asks for as a field, or remove it");
}

/* An argument is one word, whatever blanks are in it: "0 --privileged" is no set of processors. */
static void put_line(KubeFile *file, const YamlNode *node, const char *key, const char *prefix, const char *value) {
        g_autofree char *word = g_strconcat(prefix, value, NULL);

        if (g_str_equal(key, "PodmanArgs"))
                kube_line_word(file, node, key, word);
        else
                kube_line(file, node, key, "%s", word);
}

static void put_ulimits(KubeContainer *container, const YamlNode *node, const char *value) {
        g_auto(GStrv) limits = g_strsplit(value, ",", -1);

        for (char **limit = limits; *limit; limit++)
                kube_line(&container->file, node, "Ulimit", "%s", *limit);
}

/* name: without the prefix and the container's. */
static void put_podmans(KubeContainer *container, const YamlNode *node, const char *name, const char *value) {
        KubeFile *file = &container->file;

        if (g_str_equal(name, "ulimit")) {
                put_ulimits(container, node, value);
                return;
        }
        if (g_str_equal(name, "init") && !is_false(value)) {
                kube_line(file, node, "RunInit", "true");
                return;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(of_containers); i++)
                if (g_str_equal(name, of_containers[i].name)) {
                        if (of_containers[i].key)
                                put_line(file, node, of_containers[i].key, of_containers[i].prefix, value);
                        return;
                }
        if (!is_false(value))
                refuse(container->pod->kube, node);
}

/* "KEY/CONTAINER" is for that one. */
static void put(KubeContainer *container, const YamlNode *node) {
        static const char *const profiles[] = { "seccomp.security.alpha.kubernetes.io/",
                                                "container.seccomp.security.alpha.kubernetes.io/",
                                                "container.apparmor.security.beta.kubernetes.io/", NULL };
        const char *value = kube_scalar(container->pod->kube, node), *slash = strchr(node->key, '/');
        g_autofree char *name = slash ? g_strndup(node->key, (size_t) (slash - node->key)) : g_strdup(node->key);
        bool is_own = !slash || g_str_equal(slash + 1, container->name);

        if (!value)
                return;
        if (string_prefix(node->key, profiles))
                refuse(container->pod->kube, node);
        else if (g_str_has_prefix(name, PODMAN)) {
                if (is_own)
                        put_podmans(container, node, name + strlen(PODMAN), value);
        } else if (!g_str_equal(name, UPDATE)) {
                g_autofree char *word = g_strdup_printf("%s=%s", node->key, value);

                kube_line_word(&container->file, node, "Annotation", word);
        }
}

/* The annotation for this container before the one for all. */
static const YamlNode *find_update(const KubeContainer *container, bool *ret_is_own) {
        g_autofree char *own = g_strconcat(UPDATE "/", container->name, NULL);
        const YamlNode *annotations = yaml_node_get(container->pod->metadata, "annotations"),
                       *node = yaml_node_get(annotations, own);

        *ret_is_own = node;
        return node ?: yaml_node_get(annotations, UPDATE);
}

/* As with Podman, whose quadlet makes annotations of AutoUpdate=: what names the container counts before what is for
 * all, and the .kube file's before the YAML's. */
static void put_update(KubeContainer *container) {
        const GArray *updates = container->pod->kube->updates;
        const KubeExtra *found = NULL;
        bool is_own, found_own = false;
        const YamlNode *node = find_update(container, &is_own);
        const char *value = node ? kube_scalar(container->pod->kube, node) : NULL;

        for (guint i = 0; i < updates->len; i++) {
                KubeExtra *update = &g_array_index(updates, KubeExtra, i);
                const char *slash = strchr(update->text, '/');
                bool names_this = slash && strlen(container->name) == (size_t) (slash - update->text) &&
                                  g_str_has_prefix(update->text, container->name);

                update->is_used |= names_this;
                if (names_this || (!slash && !found_own && !is_own)) {
                        found = update;
                        found_own = names_this;
                }
        }
        if (found) {
                const char *slash = strchr(found->text, '/');
                g_autofree char *line = g_strconcat("AutoUpdate=", slash ? slash + 1 : found->text, NULL);

                kube_extra(&container->file, found->number, line);
        } else if (value)
                kube_line(&container->file, node, "AutoUpdate", "%s", value);
}

void kube_annotations(KubeContainer *container) {
        const GPtrArray *annotations = kube_map(container->pod->kube, container->pod->metadata, "annotations");

        put_update(container);
        for (guint i = 0; i < annotations->len; i++)
                put(container, annotations->pdata[i]);
}

const YamlNode *kube_userns(const KubePod *pod) {
        return yaml_node_get(yaml_node_get(pod->metadata, "annotations"), PODMAN "userns");
}
