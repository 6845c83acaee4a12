/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/paths.h"
#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"
#include "libstart/kube/quantity.h"

static const KubeField volume_others[] = {
        { "projected", KUBE_REFUSED, "write a volume for each of its sources" },
        { "downwardAPI", KUBE_REFUSED, "write what it says as variables, with fieldRef" },
        { "nfs", KUBE_REFUSED, "mount it by a .mount unit, and use hostPath" },
        { "csi", KUBE_REFUSED, "there are no drivers of volumes" },
        { "ephemeral", KUBE_REFUSED, "use emptyDir" },
        { 0 },
};
static const KubeField image_others[] = {
        { "pullPolicy", KUBE_IGNORED, "the image must be there: write a .image file for it" },
        { 0 },
};
static const KubeField mount_others[] = {
        { "subPathExpr", KUBE_REFUSED, "use subPath" },
        { "recursiveReadOnly", KUBE_REFUSED, "what is mounted below would stay writable" },
        { 0 },
};

/* Octal where it begins with 0, as in YAML 1.1, else decimal. */
static mode_t find_mode(Kube *kube, const YamlNode *map, const char *name, mode_t most, mode_t otherwise) {
        const YamlNode *node = yaml_node_get(map, name);
        const char *text = node ? kube_scalar(kube, node) : NULL;
        bool is_octal = text && text[0] == '0';
        const char *digits = is_octal && text[1] == 'o' ? text + 2 : text;
        guint64 mode;

        if (!node)
                return otherwise;
        if (digits && g_ascii_string_to_unsigned(digits, is_octal ? 8 : 10, 0, most, &mode, NULL))
                return (mode_t) mode;
        kube_error(kube, node, "is no mode: 0 to %04o", most);
        return otherwise;
}

/* Of a file below the volume's directory: nothing leads out of it. */
static bool is_inside(const char *path) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);

        for (char **part = parts; *part; part++)
                if (!(*part)[0] || g_str_equal(*part, ".") || g_str_equal(*part, ".."))
                        return false;
        return parts[0] && !strpbrk(path, ":\n");
}

static void put_file(const KubePod *pod, const YamlNode *node, const YamlNode *map, const char *volume,
                     const char *key, const char *path, mode_t mode) {
        g_autofree char *name = g_strdup_printf("volumes/%s/%s", volume, path);
        GBytes *bytes;

        if (!is_inside(path)) {
                kube_error(pod->kube, node, "'%s' is no path below the volume", path);
                return;
        }
        bytes = kube_data_value(pod->kube, map, key);
        if (bytes)
                kube_data_add(pod, name, bytes, mode);
        else if (!kube_flag(pod->kube, node, "optional", false))
                kube_error(pod->kube, node, "there is no key '%s'", key);
}

static void put_map(const KubePod *pod, const YamlNode *volume, const char *name, bool is_secret) {
        Kube *kube = pod->kube;
        const YamlNode *node = yaml_node_get(volume, is_secret ? "secret" : "configMap"), *map;
        g_autofree char *directory = g_strdup_printf("volumes/%s/", name);
        const GPtrArray *items;
        mode_t mode;

        if (!kube_check(kube, node, "name secretName items defaultMode optional", NULL))
                return;
        kube_data_add(pod, directory, g_bytes_new(NULL, 0), 0755); /* whatever is in it */
        map = kube_data_find(kube, node, is_secret ? "secretName" : "name", is_secret);
        items = kube_list(kube, node, "items");
        mode = find_mode(kube, node, "defaultMode", 0777, 0644);
        if (map && items->len == 0) {
                g_autoptr(GPtrArray) keys = kube_data_keys(kube, map);

                for (guint i = 0; i < keys->len; i++)
                        put_file(pod, node, map, name, keys->pdata[i], keys->pdata[i], mode);
        }
        for (guint i = 0; map && i < items->len; i++) {
                const YamlNode *item = items->pdata[i];
                bool ok = kube_check(kube, item, "key path mode", NULL);
                const char *key = ok ? kube_text(kube, item, "key") : NULL,
                           *path = ok ? kube_text(kube, item, "path") : NULL;

                if (key && path)
                        put_file(pod, item, map, name, key, path, find_mode(kube, item, "mode", 0777, mode));
                else
                        kube_error(kube, item, "needs key and path");
        }
}

/* In memory, as nothing else ends with its pod. */
static void put_empty(const KubePod *pod, const YamlNode *volume, const char *name) {
        Kube *kube = pod->kube;
        const YamlNode *node = yaml_node_get(volume, "emptyDir");
        const char *medium = kube_check(kube, node, "medium mode sizeLimit", NULL) ? kube_text(kube, node, "medium") :
                                                                                     NULL,
                   *limit = kube_text(kube, node, "sizeLimit");
        mode_t mode = find_mode(kube, node, "mode", 01777, 0777);
        guint64 size = 0;
        KubeFile file;

        if (medium && medium[0] && !g_str_equal(medium, "Memory"))
                kube_error(kube, node, "'%s' is no medium: Memory is", medium);
        if (limit && (!quantity_parse(limit, &size) || size < 1000))
                kube_error(kube, node, "'%s' is no size", limit);
        kube_file_begin(&file, kube, g_strdup_printf("%s-%s.volume", pod->stem, name), "Unit", volume);
        kube_line(&file, volume, "PartOf", "%s.service", pod->directory);
        kube_section(&file, "Volume");
        kube_line(&file, volume, "Device", "tmpfs");
        kube_line(&file, volume, "Type", "tmpfs");
        if (size > 0)
                kube_line(&file, volume, "Options", "mode=%04o,size=%" G_GUINT64_FORMAT, mode, size / 1000);
        else
                kube_line(&file, volume, "Options", "mode=%04o", mode);
        kube_file_end(&file);
}

/* As in Kubernetes: nobody could see which of two counts. */
static void check_kinds(Kube *kube, const YamlNode *volume) {
        static const char *const kinds[] = { "hostPath", "emptyDir", "configMap", "secret", "persistentVolumeClaim",
                                             "image",    NULL };
        const YamlNode *first = NULL;

        for (guint i = 0; i < volume->items->len; i++) {
                const YamlNode *item = volume->items->pdata[i];

                if (yaml_node_is_null(item) || !g_strv_contains(kinds, item->key))
                        continue;
                if (first)
                        kube_error(kube, item,
                                   "the volume has %s (line %u), and can have one kind: remove one, or "
                                   "write two volumes",
                                   first->key, first->line);
                first = first ?: item;
        }
}

void kube_volumes(const KubePod *pod) {
        const GPtrArray *volumes = kube_list(pod->kube, pod->spec, "volumes");

        for (guint i = 0; i < volumes->len; i++) {
                const YamlNode *volume = volumes->pdata[i];
                const char *name = kube_check(pod->kube, volume,
                                              "name hostPath emptyDir configMap secret persistentVolumeClaim image",
                                              volume_others) ?
                                           kube_text(pod->kube, volume, "name") :
                                           NULL;

                if (name)
                        check_kinds(pod->kube, volume);
                if (!name || !kube_is_name(name))
                        kube_error(pod->kube, volume, KUBE_NAME_RULE);
                else if (yaml_node_get(volume, "emptyDir"))
                        put_empty(pod, volume, name);
                else if (yaml_node_get(volume, "configMap"))
                        put_map(pod, volume, name, false);
                else if (yaml_node_get(volume, "secret"))
                        put_map(pod, volume, name, true);
        }
}

/*
 * Mounts of a container
 */

typedef struct Mount {
        KubeContainer *container;
        const YamlNode *node, *volume;
        const char *name, *path, *subpath;
        const char *options; /* without "ro" */
        bool read_only;
} Mount;

static void put_line(const Mount *mount, const char *source) {
        bool has_options = mount->options[0];

        kube_line(&mount->container->file, mount->node, "Volume", "%s:%s%s%s%s%s", source, mount->path,
                  mount->read_only || has_options ? ":" : "", mount->read_only ? "ro" : "",
                  mount->read_only && has_options ? "," : "", mount->options);
}

static void mount_host(const Mount *mount) {
        static const char *const types[] = { "", "Directory", "File", "Socket", "CharDevice", "BlockDevice", NULL };
        Kube *kube = mount->container->pod->kube;
        const YamlNode *host = yaml_node_get(mount->volume, "hostPath");
        const char *given = kube_check(kube, host, "path type", NULL) ? kube_text(kube, host, "path") : NULL,
                   *type = kube_text(kube, host, "type") ?: "";
        KubeFile *file = &mount->container->file;
        g_autofree char *path = NULL;

        if (!given || strchr(given, ':') || (given[0] != '/' && !kube->directory)) {
                kube_error(kube, host, "path must be absolute%s",
                           given && strchr(given, ':') ? ", without ':'" :
                                                         "; SetWorkingDirectory= says where others begin");
                return;
        }
        if (mount->subpath)
                kube_error(kube, mount->node,
                           "subPath: what is in the directory can change: write the whole path in "
                           "hostPath");
        path = g_canonicalize_filename(given, kube->directory ?: "/");
        if (g_str_equal(type, "DirectoryOrCreate") || g_str_equal(type, "FileOrCreate"))
                kube_warning(kube, host, "nothing is created at '%s': it must be there, by tmpfiles.d(5) for example",
                             path);
        else if (!g_strv_contains(types, type))
                kube_error(kube, host, "type: '%s' is not known", type);
        if (g_str_has_suffix(type, "Device") && mount->options[0])
                kube_error(kube, mount->node, "'%s': a device takes no options but ro", mount->options);
        if (g_str_has_suffix(type, "Device"))
                kube_line(file, mount->node, "AddDevice", "%s:%s%s", path, mount->path, mount->read_only ? ":r" : "");
        else
                put_line(mount, path);
}

/* source: a volume, or the file that makes one. */
static void mount_volume(const Mount *mount, const char *source) {
        KubeFile *file = &mount->container->file;
        g_autofree char *word = NULL;

        if (!mount->subpath) {
                put_line(mount, source);
                return;
        }
        if (!is_inside(mount->subpath) || strpbrk(mount->subpath, ",\"") || strpbrk(mount->path, ",\""))
                kube_error(mount->container->pod->kube, mount->node, "'%s' is no path below the volume",
                           mount->subpath);
        word = g_strdup_printf("type=volume,source=%s,destination=%s,subpath=/%s%s", source, mount->path,
                               mount->subpath, mount->read_only ? ",ro=true" : "");
        kube_line_word(file, mount->node, "Mount", word);
}

static void mount_claim(const Mount *mount) {
        Kube *kube = mount->container->pod->kube;
        const YamlNode *claim = yaml_node_get(mount->volume, "persistentVolumeClaim");
        const char *name = kube_check(kube, claim, "claimName readOnly", NULL) ? kube_text(kube, claim, "claimName") :
                                                                                 NULL;
        g_autofree char *file = g_strdup_printf("%s-%s.volume", kube->stem, name ?: "");
        Mount this = *mount;

        if (!name || !kube_is_name(name) || g_str_has_suffix(name, ".volume")) { /* a path would be the host's */
                kube_error(kube, claim, "claimName is missing, or no name of a volume");
                return;
        }
        this.read_only = mount->read_only || kube_flag(kube, claim, "readOnly", false);
        if (kube->is_forced && !g_hash_table_contains(kube->claims, name))
                g_hash_table_insert(kube->loose_claims, (char *) name, (YamlNode *) claim);
        mount_volume(&this, kube->is_forced || g_hash_table_contains(kube->claims, name) ? file : name);
}

/* Always read-only, as in Kubernetes. */
static void mount_map(const Mount *mount) {
        const KubePod *pod = mount->container->pod;

        if (mount->subpath && !is_inside(mount->subpath))
                kube_error(pod->kube, mount->node, "'%s' is no path below the volume", mount->subpath);
        kube_line(&mount->container->file, mount->node, "Volume", PATH_KUBE "/%s/volumes/%s%s%s:%s:ro,z",
                  pod->directory, mount->name, mount->subpath ? "/" : "", mount->subpath ?: "", mount->path);
}

static void mount_image(const Mount *mount) {
        Kube *kube = mount->container->pod->kube;
        const YamlNode *image = yaml_node_get(mount->volume, "image");
        const char *name = kube_check(kube, image, "reference", image_others) ? kube_text(kube, image, "reference") :
                                                                                NULL;
        g_autofree char *word = g_strdup_printf("type=image,source=%s,destination=%s%s%s", name ?: "", mount->path,
                                                mount->subpath ? ",subpath=/" : "", mount->subpath ?: "");

        if (!name || strpbrk(word + strlen("type=image"), "\"") || (mount->subpath && !is_inside(mount->subpath)))
                kube_error(kube, image, "needs a reference, and a subPath must be below it");
        kube_line_word(&mount->container->file, mount->node, "Mount", word);
}

static const YamlNode *find_volume(const KubePod *pod, const char *name) {
        const GPtrArray *volumes = kube_list(pod->kube, pod->spec, "volumes");

        for (guint i = 0; i < volumes->len; i++)
                if (g_strcmp0(kube_text(pod->kube, volumes->pdata[i], "name"), name) == 0)
                        return volumes->pdata[i];
        return NULL;
}

static void add_propagation(Kube *kube, const YamlNode *node, GPtrArray *options) {
        const char *propagation = kube_text(kube, node, "mountPropagation") ?: "None";

        if (g_str_equal(propagation, "HostToContainer"))
                g_ptr_array_add(options, g_strdup("rslave"));
        else if (g_str_equal(propagation, "Bidirectional"))
                g_ptr_array_add(options, g_strdup("rshared"));
        else if (!g_str_equal(propagation, "None"))
                kube_error(kube, node, "mountPropagation: '%s' is not known", propagation);
}

/* As Podman reads it: behind mountPath may stand options of Volume=, of which the generator says what is wrong. */
static char *find_options(Kube *kube, const YamlNode *node, const char *given, bool *read_only) {
        g_auto(GStrv) words = g_strsplit(given ?: "", ",", -1);
        g_autoptr(GPtrArray) options = g_ptr_array_new_with_free_func(g_free);

        for (char **word = words; *word; word++)
                if (g_str_equal(*word, "rw") && *read_only)
                        kube_error(kube, node, "mountPath has rw, and readOnly is true: remove one of the two");
                else if (g_str_equal(*word, "ro"))
                        *read_only = true;
                else if (!g_str_equal(*word, "rw"))
                        g_ptr_array_add(options, g_strdup(*word));
        add_propagation(kube, node, options);
        g_ptr_array_add(options, NULL);
        return g_strjoinv(",", (char **) options->pdata);
}

/* What is made for a ConfigMap or a Secret has a label that all containers may read, anyway. */
static bool takes_options(const Mount *mount) {
        if (yaml_node_get(mount->volume, "configMap") || yaml_node_get(mount->volume, "secret"))
                return g_ascii_strcasecmp(mount->options, "z") == 0;
        return !mount->subpath && !yaml_node_get(mount->volume, "image");
}

static void put_mount(const Mount *mount) {
        if (mount->options[0] && !takes_options(mount))
                kube_error(mount->container->pod->kube, mount->node,
                           "'%s': mountPropagation, and options but ro, are for whole volumes of hostPath, "
                           "emptyDir and persistentVolumeClaim",
                           mount->options);
        if (yaml_node_get(mount->volume, "hostPath"))
                mount_host(mount);
        else if (yaml_node_get(mount->volume, "persistentVolumeClaim"))
                mount_claim(mount);
        else if (yaml_node_get(mount->volume, "image"))
                mount_image(mount);
        else if (yaml_node_get(mount->volume, "emptyDir")) {
                g_autofree char *file = g_strdup_printf("%s-%s.volume", mount->container->pod->stem, mount->name);

                mount_volume(mount, file);
        } else if (yaml_node_get(mount->volume, "configMap") || yaml_node_get(mount->volume, "secret"))
                mount_map(mount);
        else
                kube_error(mount->container->pod->kube, mount->volume, "says of no kind of volume what it is");
}

static void put_mount_of(KubeContainer *container, const YamlNode *node) {
        Kube *kube = container->pod->kube;
        bool ok = kube_check(kube, node, "name mountPath readOnly subPath mountPropagation", mount_others),
             read_only = kube_flag(kube, node, "readOnly", false);
        const char *name = ok ? kube_text(kube, node, "name") : NULL,
                   *path = ok ? kube_text(kube, node, "mountPath") : NULL;
        const YamlNode *volume = name ? find_volume(container->pod, name) : NULL;
        g_auto(GStrv) parts = g_strsplit(path ?: "", ":", 3);
        const char *given = parts[0] ? parts[1] : NULL;
        g_autofree char *options = find_options(kube, node, given, &read_only);
        const Mount mount = { container, node,     volume, name, parts[0] ?: "", kube_text(kube, node, "subPath"),
                              options,   read_only };

        if (!volume)
                kube_error(kube, node, "'%s': spec.volumes has no such volume", name ?: "");
        else if (!path || path[0] != '/' || strchr(path, '\n') || (given && parts[2]))
                kube_error(kube, node, "mountPath must be an absolute path; behind one ':' it may have options");
        else
                put_mount(&mount);
}

void kube_mounts(KubeContainer *container) {
        const GPtrArray *mounts = kube_list(container->pod->kube, container->node, "volumeMounts");

        for (guint i = 0; i < mounts->len; i++)
                put_mount_of(container, mounts->pdata[i]);
}
