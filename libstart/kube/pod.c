/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/paths.h"
#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"

#define NO_CLUSTER "there is one machine"

static const KubeField object_fields[] = {
        { "apiVersion", KUBE_SILENT, NULL }, { "kind", KUBE_READ, NULL },     { "metadata", KUBE_READ, NULL },
        { "spec", KUBE_READ, NULL },         { "status", KUBE_SILENT, NULL }, { 0 },
};

static const KubeField metadata_fields[] = {
        { "name", KUBE_READ, NULL },
        { "labels", KUBE_READ, NULL },
        { "annotations", KUBE_READ, NULL },
        { "namespace", KUBE_SILENT, NULL },
        { "creationTimestamp", KUBE_SILENT, NULL },
        { "generateName", KUBE_SILENT, NULL },
        { "generation", KUBE_SILENT, NULL },
        { "resourceVersion", KUBE_SILENT, NULL },
        { "uid", KUBE_SILENT, NULL },
        { "ownerReferences", KUBE_SILENT, NULL },
        { "managedFields", KUBE_SILENT, NULL },
        { "finalizers", KUBE_SILENT, NULL },
        { 0 },
};

static const KubeField workload_fields[] = {
        { "template", KUBE_READ, NULL },
        { "replicas", KUBE_READ, NULL },
        { "selector", KUBE_SILENT, NULL },
        { "strategy", KUBE_SILENT, NULL },
        { "updateStrategy", KUBE_SILENT, NULL },
        { "minReadySeconds", KUBE_SILENT, NULL },
        { "revisionHistoryLimit", KUBE_SILENT, NULL },
        { "progressDeadlineSeconds", KUBE_SILENT, NULL },
        { "paused", KUBE_REFUSED, "do not start the service" },
        { "backoffLimit", KUBE_IGNORED, "StartLimitBurst= in [Unit] of a drop-in says it" },
        { "completions", KUBE_IGNORED, "it runs once" },
        { "completionMode", KUBE_IGNORED, "it runs once" },
        { "parallelism", KUBE_IGNORED, "it runs once" },
        { "manualSelector", KUBE_SILENT, NULL },
        { "ttlSecondsAfterFinished", KUBE_SILENT, NULL },
        { "suspend", KUBE_REFUSED, "do not start the service" },
        { "activeDeadlineSeconds", KUBE_REFUSED, "RuntimeMaxSec= in [Service] of a drop-in says it" },
        { "podFailurePolicy", KUBE_REFUSED, "restartPolicy is all that there is" },
        { 0 },
};

static const KubeField spec_fields[] = {
        { "containers", KUBE_READ, NULL },
        { "initContainers", KUBE_READ, NULL },
        { "volumes", KUBE_READ, NULL },
        { "restartPolicy", KUBE_READ, NULL },
        { "terminationGracePeriodSeconds", KUBE_READ, NULL },
        { "hostname", KUBE_READ, NULL },
        { "hostAliases", KUBE_READ, NULL },
        { "hostNetwork", KUBE_READ, NULL },
        { "hostPID", KUBE_READ, NULL },
        { "hostIPC", KUBE_READ, NULL },
        { "hostUsers", KUBE_READ, NULL },
        { "shareProcessNamespace", KUBE_READ, NULL },
        { "dnsConfig", KUBE_READ, NULL },
        { "dnsPolicy", KUBE_READ, NULL },
        { "securityContext", KUBE_READ, NULL },
        { "activeDeadlineSeconds", KUBE_REFUSED, "RuntimeMaxSec= in [Service] of a drop-in says it" },
        { "ephemeralContainers", KUBE_REFUSED, "write it as a container" },
        { "runtimeClassName", KUBE_REFUSED, "there is one runtime: what another one would isolate is not isolated" },
        { "setHostnameAsFQDN", KUBE_REFUSED, "write the whole name in hostname" },
        { "resources", KUBE_REFUSED, "write the limits of each container" },
        { "os", KUBE_SILENT, NULL },
        { "subdomain", KUBE_IGNORED, NO_CLUSTER },
        { "enableServiceLinks", KUBE_SILENT, NULL },
        { "imagePullSecrets", KUBE_IGNORED, "put them into auth.json, where keyturn-image(8) looks" },
        { "serviceAccount", KUBE_IGNORED, NO_CLUSTER },
        { "serviceAccountName", KUBE_IGNORED, NO_CLUSTER },
        { "automountServiceAccountToken", KUBE_SILENT, NULL },
        { "nodeName", KUBE_SILENT, NULL },
        { "nodeSelector", KUBE_SILENT, NULL },
        { "affinity", KUBE_SILENT, NULL },
        { "tolerations", KUBE_SILENT, NULL },
        { "schedulerName", KUBE_SILENT, NULL },
        { "priority", KUBE_SILENT, NULL },
        { "priorityClassName", KUBE_SILENT, NULL },
        { "preemptionPolicy", KUBE_SILENT, NULL },
        { "readinessGates", KUBE_SILENT, NULL },
        { "topologySpreadConstraints", KUBE_SILENT, NULL },
        { "overhead", KUBE_SILENT, NULL },
        { 0 },
};

static void put_ports(const KubePod *pod, KubeFile *file, const YamlNode *container) {
        static const KubeField fields[] = { { "name", 0, NULL },     { "containerPort", 0, NULL },
                                            { "hostPort", 0, NULL }, { "hostIP", 0, NULL },
                                            { "protocol", 0, NULL }, { 0 } };
        const GPtrArray *ports = kube_list(pod->kube, container, "ports");

        for (guint i = 0; i < ports->len; i++) {
                const YamlNode *port = ports->pdata[i];
                bool ok = kube_check(pod->kube, port, fields);
                const char *address = ok ? kube_text(pod->kube, port, "hostIP") : NULL,
                           *protocol = ok ? kube_text(pod->kube, port, "protocol") : NULL;
                g_autofree char *lower = g_ascii_strdown(protocol ?: "tcp", -1);
                bool has_address = address && address[0], is_v6 = has_address && strchr(address, ':');
                gint64 inside, outside;

                if (!ok || !kube_number(pod->kube, port, "containerPort", &inside))
                        kube_error(pod->kube, port, "containerPort is missing");
                else if (kube_number(pod->kube, port, "hostPort", &outside) && outside > 0 && !pod->is_host_network)
                        kube_line(file, "Pod", port, "PublishPort",
                                  "%s%s%s%s%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT "/%s", is_v6 ? "[" : "",
                                  address ?: "", is_v6 ? "]" : "", has_address ? ":" : "", outside, inside, lower);
        }
}

static bool has_line(const GArray *extras, const char *key) {
        for (guint i = 0; i < extras->len; i++)
                if (g_str_has_prefix(g_array_index(extras, KubeExtra, i).text, key))
                        return true;
        return false;
}

static void put_network(const KubePod *pod, KubeFile *file) {
        Kube *kube = pod->kube;
        const YamlNode *node = yaml_node_get(pod->spec, "hostNetwork");

        if (pod->is_host_network && has_line(kube->pod_lines, "Network="))
                kube_error(kube, node, "and Network= of the .kube file says something else: remove one of the two");
        else if (pod->is_host_network)
                kube_line(file, "Pod", node, "Network", "host");
        else if (!has_line(kube->pod_lines, "Network=") && kube->pods->len > 1)
                kube_line(file, "Pod", NULL, "Network", "%s-pods.network", kube->stem);
        else if (!has_line(kube->pod_lines, "Network="))
                kube_line(file, "Pod", NULL, "Network", "bridge");
        if (kube->pods->len > 1 && has_line(kube->pod_lines, "PublishPort="))
                kube_error(kube, pod->spec,
                           "PublishPort= of the .kube file is for one pod, and there are several: use "
                           "hostPort");
}

static void put_hosts(const KubePod *pod, KubeFile *file) {
        static const KubeField fields[] = { { "ip", 0, NULL }, { "hostnames", 0, NULL }, { 0 } };
        const GPtrArray *aliases = kube_list(pod->kube, pod->spec, "hostAliases");

        for (guint i = 0; i < aliases->len; i++) {
                const YamlNode *alias = aliases->pdata[i];
                bool ok = kube_check(pod->kube, alias, fields);
                const char *address = ok ? kube_text(pod->kube, alias, "ip") : NULL;
                const GPtrArray *names = kube_list(pod->kube, alias, "hostnames");

                if (!address)
                        kube_error(pod->kube, alias, "ip is missing");
                for (guint j = 0; address && j < names->len; j++)
                        kube_line(file, "Pod", names->pdata[j], "AddHost", "%s:%s",
                                  kube_scalar(pod->kube, names->pdata[j]) ?: "", address);
        }
}

static void put_list(const KubePod *pod, KubeFile *file, const YamlNode *map, const char *name, const char *key) {
        const GPtrArray *items = kube_list(pod->kube, map, name);

        for (guint i = 0; i < items->len; i++)
                kube_line(file, "Pod", items->pdata[i], key, "%s", kube_scalar(pod->kube, items->pdata[i]) ?: "");
}

static void put_dns(const KubePod *pod, KubeFile *file) {
        static const KubeField fields[] = { { "nameservers", 0, NULL },
                                            { "searches", 0, NULL },
                                            { "options", 0, NULL },
                                            { 0 } },
                               option_fields[] = { { "name", 0, NULL }, { "value", 0, NULL }, { 0 } };
        static const char *const policies[] = { "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", NULL };
        const YamlNode *dns = yaml_node_get(pod->spec, "dnsConfig");
        const char *policy = kube_text(pod->kube, pod->spec, "dnsPolicy");
        const GPtrArray *options;

        if (policy && !g_strv_contains(policies, policy))
                kube_error(pod->kube, yaml_node_get(pod->spec, "dnsPolicy"), "'%s' is not known", policy);
        if (g_strcmp0(policy, "None") == 0 && !yaml_node_get(dns, "nameservers"))
                kube_error(pod->kube, yaml_node_get(pod->spec, "dnsPolicy"), "None needs dnsConfig.nameservers");
        if (!kube_check(pod->kube, dns, fields))
                return;
        put_list(pod, file, dns, "nameservers", "DNS");
        put_list(pod, file, dns, "searches", "DNSSearch");
        options = kube_list(pod->kube, dns, "options");
        for (guint i = 0; i < options->len; i++) {
                const char *name = kube_check(pod->kube, options->pdata[i], option_fields) ?
                                           kube_text(pod->kube, options->pdata[i], "name") :
                                           NULL,
                           *value = kube_text(pod->kube, options->pdata[i], "value");

                kube_line(file, "Pod", options->pdata[i], "DNSOption", "%s%s%s", name ?: "", value ? ":" : "",
                          value ?: "");
        }
}

static void put_namespaces(const KubePod *pod, KubeFile *file) {
        Kube *kube = pod->kube;
        const YamlNode *users = yaml_node_get(pod->spec, "hostUsers"),
                       *shared = yaml_node_get(pod->spec, "shareProcessNamespace"),
                       *ipc = yaml_node_get(pod->spec, "hostIPC"), *userns = kube_userns(pod);
        bool is_said = has_line(kube->pod_lines, "UserNS=") || has_line(kube->pod_lines, "RemapUsers=");

        if (userns && !is_said)
                kube_line(file, "Pod", userns, "UserNS", "%s", kube_scalar(kube, userns) ?: "");
        else if (!kube_flag(kube, pod->spec, "hostUsers", true) && !is_said)
                kube_line(file, "Pod", users, "UserNS", "auto");
        if (kube_flag(kube, pod->spec, "shareProcessNamespace", false))
                kube_error(kube, shared,
                           "is not supported: each container has its own processes, and is a service of "
                           "its own");
        if (kube_flag(kube, pod->spec, "hostIPC", false))
                kube_line(file, "Pod", ipc, "PodmanArgs", "--share=net,uts");
}

/* The program that writes the files reads the YAML once more: no secret stands in a unit. */
static void put_data(const KubePod *pod, KubeFile *file) {
        Kube *kube = pod->kube;
        g_autoptr(GPtrArray) words = g_ptr_array_new();

        if (!kube_data_exists(pod))
                return;
        g_ptr_array_add(words, (char *) KEYTURN_LIBDIR "/keyturn-kube");
        g_ptr_array_add(words, (char *) "data");
        g_ptr_array_add(words, pod->directory);
        g_ptr_array_add(words, (char *) kube->stem);
        for (guint i = 0; i < kube->files->len; i++)
                g_ptr_array_add(words, kube->files->pdata[i]);
        kube_line(file, "Service", NULL, "RuntimeDirectory", "keyturn/" NAME_KUBE "/%s", pod->directory);
        kube_line(file, "Service", NULL, "RuntimeDirectoryMode", "0700");
        kube_line_words(file, "Service", NULL, "ExecStartPre", words);
}

static void put_pod(const KubePod *pod) {
        Kube *kube = pod->kube;
        const GPtrArray *containers = kube_list(kube, pod->spec, "containers"),
                        *labels = kube_map(kube, pod->metadata, "labels");
        const char *hostname = kube_text(kube, pod->spec, "hostname");
        KubeFile file;

        kube_file_begin(&file, kube, g_strdup_printf("%s.pod", pod->stem), pod->spec);
        kube_line(&file, "Unit", NULL, "PartOf", "%s.kube", kube->stem);
        kube_line(&file, "Pod", pod->metadata, "PodName", "%s", pod->name);
        if (hostname && hostname[0])
                kube_line(&file, "Pod", yaml_node_get(pod->spec, "hostname"), "HostName", "%s", hostname);
        put_network(pod, &file);
        for (guint i = 0; i < containers->len; i++)
                put_ports(pod, &file, containers->pdata[i]);
        put_hosts(pod, &file);
        put_dns(pod, &file);
        put_namespaces(pod, &file);
        kube_pod_security(pod, &file);
        for (guint i = 0; i < labels->len; i++) {
                const YamlNode *label = labels->pdata[i];
                g_autofree char *word = g_strdup_printf("%s=%s", label->key, kube_scalar(kube, label) ?: "");

                kube_line_word(&file, "Pod", label, "Label", word);
        }
        kube_extras(&file, "Pod", kube->pod_lines);
        put_data(pod, &file);
        kube_file_end(&file);
}

static void put_containers(const KubePod *pod) {
        const GPtrArray *inits = kube_list(pod->kube, pod->spec, "initContainers"),
                        *containers = kube_list(pod->kube, pod->spec, "containers");
        g_autofree char *last = NULL;

        for (guint i = 0; i < inits->len; i++) {
                char *file = kube_container(pod, inits->pdata[i], true, last);

                g_free(last);
                last = file;
        }
        for (guint i = 0; i < containers->len; i++)
                g_free(kube_container(pod, containers->pdata[i], false, last));
        if (containers->len == 0)
                kube_error(pod->kube, pod->spec, "has no containers");
}

/* The name of the pod that it makes. Transfer full. */
static char *pod_name(const YamlNode *object) {
        const char *name = yaml_node_get(yaml_node_get(object, "metadata"), "name")->text;

        return g_strconcat(name, g_str_equal(yaml_node_get(object, "kind")->text, "Pod") ? "" : "-pod", NULL);
}

/* What has the pod's metadata and spec: itself, or its template. */
static const YamlNode *pod_template(const YamlNode *object) {
        if (g_str_equal(yaml_node_get(object, "kind")->text, "Pod"))
                return object;
        return yaml_node_get(yaml_node_get(object, "spec"), "template");
}

static bool check_object(Kube *kube, const YamlNode *object) {
        const YamlNode *spec = yaml_node_get(object, "spec"), *template = pod_template(object);
        gint64 replicas;

        kube_check(kube, object, object_fields);
        kube_check(kube, yaml_node_get(object, "metadata"), metadata_fields);
        if (template != object) {
                kube_check(kube, spec, workload_fields);
                kube_check(kube, yaml_node_get(template, "metadata"), metadata_fields);
                if (kube_number(kube, spec, "replicas", &replicas) && replicas != 1)
                        kube_warning(kube, yaml_node_get(spec, "replicas"), "is ignored: one pod is started");
        }
        spec = yaml_node_get(template, "spec");
        if (!spec)
                kube_error(kube, template ?: object, "has no spec of a pod");
        return spec && kube_check(kube, spec, spec_fields);
}

void kube_pod(Kube *kube, const YamlNode *object) {
        const YamlNode *template;
        KubePod pod;

        if (!check_object(kube, object))
                return;
        template = pod_template(object);
        pod = (KubePod) { .kube = kube,
                          .metadata = yaml_node_get(template, "metadata"),
                          .spec = yaml_node_get(template, "spec"),
                          .name = pod_name(object) };
        pod.stem = g_strdup_printf("%s-%s", kube->stem, pod.name);
        pod.directory = g_strdup_printf("%s-pod", pod.stem);
        pod.is_host_network = kube_flag(kube, pod.spec, "hostNetwork", false);
        kube_volumes(&pod);
        put_containers(&pod);
        put_pod(&pod);
        g_free(pod.name);
        g_free(pod.stem);
        g_free(pod.directory);
}
