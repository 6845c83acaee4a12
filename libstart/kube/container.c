/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"
#include "libstart/kube/quantity.h"

#define DEVICE "podman.io/device="

static const char container_read[] =
        "name image imagePullPolicy command args workingDir ports env envFrom resources restartPolicy volumeMounts "
        "livenessProbe startupProbe lifecycle securityContext";
static const KubeField container_others[] = {
        { "resizePolicy terminationMessagePolicy", KUBE_SILENT, NULL },
        { "volumeDevices", KUBE_REFUSED, "use a volume with hostPath and type BlockDevice" },
        { "readinessProbe", KUBE_IGNORED, "nobody asks whether a container is ready" },
        { "terminationMessagePath", KUBE_IGNORED, "the journal has a container's last words" },
        { "stdin stdinOnce tty", KUBE_IGNORED, "a service has no terminal" },
        { 0 },
};
static const KubeField lifecycle_others[] = {
        { "postStart preStop", KUBE_REFUSED,
          "let the image's program do it, or ExecStartPost= and ExecStop= in [Service] of a drop-in" },
        { 0 },
};
static const KubeField resources_others[] = { { "claims", KUBE_REFUSED, "there are no resource claims" }, { 0 } };
static const KubeField limits_others[] = {
        { "ephemeral-storage", KUBE_IGNORED, "WritableLayerSize= in keyturn.conf(5) limits it" },
        { 0 },
};
static const KubeField requests_others[] = { { "cpu ephemeral-storage", KUBE_SILENT, NULL }, { 0 } };

static bool find_quantity(Kube *kube, const YamlNode *map, const char *name, guint64 *ret) {
        const char *text = kube_text(kube, map, name);

        if (!text)
                return false;
        if (quantity_parse(text, ret) && *ret > 0)
                return true;
        kube_error(kube, yaml_node_get(map, name), "'%s' is no quantity", text);
        return false;
}

/* Podman's way to ask for one: the limit podman.io/device=PATH. Its number means nothing. */
static void check_limits(KubeContainer *container) {
        const GPtrArray *items = kube_map(container->pod->kube, yaml_node_get(container->node, "resources"),
                                          "limits");

        for (guint i = 0; i < items->len; i++) {
                const YamlNode *item = items->pdata[i];

                if (g_str_has_prefix(item->key, DEVICE))
                        kube_line(&container->file, item, "AddDevice", "%s", item->key + strlen(DEVICE));
                else
                        kube_check_field(container->pod->kube, item, "cpu memory", limits_others);
        }
}

static void put_resources(KubeContainer *container) {
        Kube *kube = container->pod->kube;
        KubeFile *file = &container->file;
        const YamlNode *resources = yaml_node_get(container->node, "resources"), *limits, *requests;
        guint64 amount;

        if (!kube_check(kube, resources, "limits requests", resources_others))
                return;
        limits = yaml_node_get(resources, "limits");
        requests = yaml_node_get(resources, "requests");
        check_limits(container);
        kube_check(kube, requests, "memory", requests_others);
        if (find_quantity(kube, limits, "cpu", &amount))
                kube_line(file, limits, "PodmanArgs", "--cpus=%" G_GUINT64_FORMAT ".%03u", amount / 1000,
                          (unsigned) (amount % 1000));
        if (find_quantity(kube, limits, "memory", &amount))
                kube_line(file, limits, "Memory", "%" G_GUINT64_FORMAT, (amount + 999) / 1000);
        if (find_quantity(kube, requests, "memory", &amount))
                kube_line(file, requests, "PodmanArgs", "--memory-reservation=%" G_GUINT64_FORMAT,
                          (amount + 999) / 1000);
}

static void put_image(KubeContainer *container) {
        static const char *const policies[][2] = {
                { "IfNotPresent", "missing" }, { "Always", "always" }, { "Never", "never" }, { "Newer", "newer" }
        };
        Kube *kube = container->pod->kube;
        const YamlNode *policy = yaml_node_get(container->node, "imagePullPolicy");
        const char *image = kube_text(kube, container->node, "image"), *pull = policy ? NULL : "missing";

        for (size_t i = 0; policy && i < G_N_ELEMENTS(policies); i++)
                if (g_strcmp0(kube_scalar(kube, policy), policies[i][0]) == 0)
                        pull = policies[i][1];
        if (!image || !image[0])
                kube_error(kube, container->node, "image is missing");
        else
                kube_line(&container->file, yaml_node_get(container->node, "image"), "Image", "%s", image);
        if (pull)
                kube_line(&container->file, policy, "Pull", "%s", pull);
        else
                kube_error(kube, policy, "must be IfNotPresent, Always or Never");
}

static void put_host_namespaces(KubeContainer *container) {
        const YamlNode *spec = container->pod->spec;

        if (kube_flag(container->pod->kube, spec, "hostPID", false))
                kube_line(&container->file, yaml_node_get(spec, "hostPID"), "PodmanArgs", "--pid=host");
        if (kube_flag(container->pod->kube, spec, "hostIPC", false))
                kube_line(&container->file, yaml_node_get(spec, "hostIPC"), "PodmanArgs", "--ipc=host");
}

/* What starts and stops with it, and before it. */
static void put_units(KubeContainer *container, const char *after) {
        KubeFile *file = &container->file;

        kube_line(file, NULL, "PartOf", "%s.kube", container->pod->kube->stem);
        if (after) {
                kube_line(file, NULL, "Requires", "%s", after);
                kube_line(file, NULL, "After", "%s", after);
        }
        kube_line(file, NULL, "StartLimitIntervalSec", "0"); /* it is tried again for ever, as in a cluster */
}

static void put_service(KubeContainer *container) {
        Kube *kube = container->pod->kube;
        KubeFile *file = &container->file;
        const YamlNode *own = yaml_node_get(container->node, "restartPolicy"),
                       *policy = own ?: yaml_node_get(container->pod->spec, "restartPolicy");
        const char *text = policy ? kube_scalar(kube, policy) : "Always";
        const char *restart = g_strcmp0(text, "Always") == 0    ? "always" :
                              g_strcmp0(text, "OnFailure") == 0 ? "on-failure" :
                                                                  "no";

        if (g_str_equal(restart, "no") && g_strcmp0(text, "Never") != 0)
                kube_error(kube, policy, "must be Always, OnFailure or Never");
        if (container->is_init) {
                kube_line(file, container->node, "Type", "oneshot");
                kube_line(file, container->node, "RemainAfterExit", "yes");
                restart = g_str_equal(restart, "no") ? "no" : "on-failure";
        }
        kube_line(file, policy, "Restart", "%s", restart);
        kube_line(file, policy, "RestartSec", "1");
}

static void put_ways_to_stop(KubeContainer *container) {
        Kube *kube = container->pod->kube;
        const YamlNode *lifecycle = yaml_node_get(container->node, "lifecycle");
        const char *signal = kube_check(kube, lifecycle, "stopSignal", lifecycle_others) ?
                                     kube_text(kube, lifecycle, "stopSignal") :
                                     NULL;
        gint64 seconds;

        if (signal)
                kube_line(&container->file, lifecycle, "StopSignal", "%s", signal);
        if (kube_number(kube, container->pod->spec, "terminationGracePeriodSeconds", &seconds))
                kube_line(&container->file, yaml_node_get(container->pod->spec, "terminationGracePeriodSeconds"),
                          "StopTimeout", "%" G_GINT64_FORMAT, seconds);
}

/* Ones that run beside the others may have been started before them. */
static bool is_sidecar(Kube *kube, const YamlNode *node) {
        return g_strcmp0(kube_text(kube, node, "restartPolicy"), "Always") == 0;
}

/* Podman takes one without a name, for which Kubernetes refuses the pod. */
static const char *find_name(Kube *kube, const YamlNode *node) {
        if (!kube_check(kube, node, container_read, container_others) || node->type != YAML_TREE_MAP)
                return NULL;
        if (yaml_node_get(node, "name"))
                return kube_text(kube, node, "name");
        kube_warning(kube, node, "has no name, which Kubernetes refuses: it is called 'unnamed'");
        return "unnamed";
}

char *kube_container(const KubePod *pod, const YamlNode *node, bool is_init, const char *after) {
        const char *name = find_name(pod->kube, node), *directory;
        KubeContainer container = { .pod = pod, .node = node, .name = name };

        if (!name || !kube_is_name(name)) {
                kube_error(pod->kube, node, KUBE_NAME_RULE);
                return NULL;
        }
        container.is_init = is_init && !is_sidecar(pod->kube, node);
        kube_file_begin(&container.file, pod->kube, g_strdup_printf("%s-%s.container", pod->stem, name), "Unit",
                        node);
        put_units(&container, after);
        kube_section(&container.file, "Container");
        kube_line(&container.file, NULL, "Pod", "%s.pod", pod->stem);
        kube_line(&container.file, yaml_node_get(node, "name"), "ContainerName", "%s-%s", pod->name, name);
        put_image(&container);
        kube_environment(&container);
        directory = kube_text(pod->kube, node, "workingDir");
        if (directory && directory[0])
                kube_line(&container.file, yaml_node_get(node, "workingDir"), "WorkingDir", "%s", directory);
        kube_mounts(&container);
        put_resources(&container);
        kube_security(&container);
        kube_probes(&container);
        put_ways_to_stop(&container);
        put_host_namespaces(&container);
        kube_labels(pod, &container.file);
        kube_annotations(&container);
        kube_extras(&container.file, pod->kube->container_lines);
        kube_section(&container.file, "Service");
        put_service(&container);
        kube_file_end(&container.file);
        return g_strdup_printf("%s-%s.container", pod->stem, name);
}
