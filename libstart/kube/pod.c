/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/paths.h"
#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"

const KubeField kube_object_others[] = { { "apiVersion status", KUBE_SILENT, NULL }, { 0 } };

static const char metadata_read[] = "name labels annotations";
static const KubeField metadata_others[] = {
        { "namespace creationTimestamp generateName generation resourceVersion uid ownerReferences managedFields "
          "finalizers",
          KUBE_SILENT, NULL },
        { 0 },
};

static const KubeField workload_others[] = {
        { "selector strategy updateStrategy minReadySeconds revisionHistoryLimit progressDeadlineSeconds "
          "manualSelector ttlSecondsAfterFinished",
          KUBE_SILENT, NULL },
        { "backoffLimit", KUBE_IGNORED, "StartLimitBurst= in [Unit] of a drop-in says it" },
        { "completions completionMode parallelism", KUBE_IGNORED, "it runs once" },
        { "paused suspend", KUBE_REFUSED, "do not start the service" },
        { "activeDeadlineSeconds", KUBE_REFUSED, "RuntimeMaxSec= in [Service] of a drop-in says it" },
        { "podFailurePolicy", KUBE_REFUSED, "restartPolicy is all that there is" },
        { 0 },
};

static const char spec_read[] =
        "containers initContainers volumes restartPolicy terminationGracePeriodSeconds hostname hostAliases "
        "hostNetwork hostPID hostIPC hostUsers shareProcessNamespace dnsConfig dnsPolicy securityContext";
static const KubeField spec_others[] = {
        { "activeDeadlineSeconds", KUBE_REFUSED, "RuntimeMaxSec= in [Service] of a drop-in says it" },
        { "ephemeralContainers", KUBE_REFUSED, "write it as a container" },
        { "runtimeClassName", KUBE_REFUSED, "there is one runtime: what another one would isolate is not isolated" },
        { "setHostnameAsFQDN", KUBE_REFUSED, "write the whole name in hostname" },
        { "resources", KUBE_REFUSED, "write the limits of each container" },
        { "imagePullSecrets", KUBE_IGNORED, "put them into auth.json, where keyturn-image(8) looks" },
        { "subdomain serviceAccount serviceAccountName", KUBE_IGNORED, "there is one machine" },
        { "os enableServiceLinks automountServiceAccountToken nodeName nodeSelector affinity tolerations "
          "schedulerName priority priorityClassName preemptionPolicy readinessGates topologySpreadConstraints "
          "overhead",
          KUBE_SILENT, NULL },
        { 0 },
};

static void put_ports(const KubePod *pod, KubeFile *file, const YamlNode *container) {
        const GPtrArray *ports = kube_list(pod->kube, container, "ports");

        for (guint i = 0; i < ports->len; i++) {
                const YamlNode *port = ports->pdata[i];
                bool ok = kube_check(pod->kube, port, "name containerPort hostPort hostIP protocol", NULL);
                const char *address = ok ? kube_text(pod->kube, port, "hostIP") : NULL,
                           *protocol = ok ? kube_text(pod->kube, port, "protocol") : NULL;
                g_autofree char *lower = g_ascii_strdown(protocol ?: "tcp", -1);
                bool has_address = address && address[0], is_v6 = has_address && strchr(address, ':');
                gint64 inside, outside;

                if (!ok || !kube_number(pod->kube, port, "containerPort", &inside))
                        kube_error(pod->kube, port, "containerPort is missing");
                else if (kube_number(pod->kube, port, "hostPort", &outside) && outside > 0 && !pod->is_host_network)
                        kube_line(file, port, "PublishPort", "%s%s%s%s%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT "/%s",
                                  is_v6 ? "[" : "", address ?: "", is_v6 ? "]" : "", has_address ? ":" : "", outside,
                                  inside, lower);
        }
}

bool kube_has_pod_line(const Kube *kube, const char *start) {
        for (guint i = 0; i < kube->pod_lines->len; i++)
                if (g_str_has_prefix(g_array_index(kube->pod_lines, KubeExtra, i).text, start))
                        return true;
        return false;
}

static void put_network(const KubePod *pod, KubeFile *file) {
        Kube *kube = pod->kube;
        const YamlNode *node = yaml_node_get(pod->spec, "hostNetwork");
        bool is_said = kube_has_pod_line(kube, "Network=");

        if (pod->is_host_network && is_said)
                kube_error(kube, node, "and Network= of the .kube file says something else: remove one of the two");
        else if (pod->is_host_network)
                kube_line(file, node, "Network", "host");
        else if (!is_said && kube->pods->len > 1)
                kube_line(file, NULL, "Network", "%s-pods.network", kube->stem);
        else if (!is_said)
                kube_line(file, NULL, "Network", "bridge");
        if (kube->pods->len > 1 && kube_has_pod_line(kube, "PublishPort="))
                kube_error(kube, pod->spec,
                           "PublishPort= of the .kube file is for one pod, and there are several: use "
                           "hostPort");
}

static void put_hosts(const KubePod *pod, KubeFile *file) {
        const GPtrArray *aliases = kube_list(pod->kube, pod->spec, "hostAliases");

        for (guint i = 0; i < aliases->len; i++) {
                const YamlNode *alias = aliases->pdata[i];
                bool ok = kube_check(pod->kube, alias, "ip hostnames", NULL);
                const char *address = ok ? kube_text(pod->kube, alias, "ip") : NULL;
                const GPtrArray *names = kube_list(pod->kube, alias, "hostnames");

                if (!address)
                        kube_error(pod->kube, alias, "ip is missing");
                for (guint j = 0; address && j < names->len; j++)
                        kube_line(file, names->pdata[j], "AddHost", "%s:%s",
                                  kube_scalar(pod->kube, names->pdata[j]) ?: "", address);
        }
}

static void put_list(const KubePod *pod, KubeFile *file, const YamlNode *map, const char *name, const char *key) {
        const GPtrArray *items = kube_list(pod->kube, map, name);

        for (guint i = 0; i < items->len; i++)
                kube_line(file, items->pdata[i], key, "%s", kube_scalar(pod->kube, items->pdata[i]) ?: "");
}

static void put_dns(const KubePod *pod, KubeFile *file) {
        static const char *const policies[] = { "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", NULL };
        const YamlNode *dns = yaml_node_get(pod->spec, "dnsConfig");
        const char *policy = kube_text(pod->kube, pod->spec, "dnsPolicy");
        const GPtrArray *options;

        if (policy && !g_strv_contains(policies, policy))
                kube_error(pod->kube, yaml_node_get(pod->spec, "dnsPolicy"), "'%s' is not known", policy);
        if (g_strcmp0(policy, "None") == 0 && !yaml_node_get(dns, "nameservers"))
                kube_error(pod->kube, yaml_node_get(pod->spec, "dnsPolicy"), "None needs dnsConfig.nameservers");
        if (!kube_check(pod->kube, dns, "nameservers searches options", NULL))
                return;
        put_list(pod, file, dns, "nameservers", "DNS");
        put_list(pod, file, dns, "searches", "DNSSearch");
        options = kube_list(pod->kube, dns, "options");
        for (guint i = 0; i < options->len; i++) {
                const char *name = kube_check(pod->kube, options->pdata[i], "name value", NULL) ?
                                           kube_text(pod->kube, options->pdata[i], "name") :
                                           NULL,
                           *value = kube_text(pod->kube, options->pdata[i], "value");

                kube_line(file, options->pdata[i], "DNSOption", "%s%s%s", name ?: "", value ? ":" : "", value ?: "");
        }
}

static void put_namespaces(const KubePod *pod, KubeFile *file) {
        Kube *kube = pod->kube;
        const YamlNode *users = yaml_node_get(pod->spec, "hostUsers"),
                       *shared = yaml_node_get(pod->spec, "shareProcessNamespace"),
                       *ipc = yaml_node_get(pod->spec, "hostIPC"), *userns = kube_userns(pod);
        bool is_said = kube_has_pod_line(kube, "UserNS=") || kube_has_pod_line(kube, "RemapUsers=");

        if (userns && !is_said)
                kube_line(file, userns, "UserNS", "%s", kube_scalar(kube, userns) ?: "");
        else if (!kube_flag(kube, pod->spec, "hostUsers", true) && !is_said)
                kube_line(file, users, "UserNS", "auto");
        if (kube_flag(kube, pod->spec, "shareProcessNamespace", false))
                kube_error(kube, shared,
                           "is not supported: each container has its own processes, and is a service of "
                           "its own");
        if (kube_flag(kube, pod->spec, "hostIPC", false))
                kube_line(file, ipc, "PodmanArgs", "--share=net,uts");
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
        kube_section(file, "Service");
        kube_line(file, NULL, "RuntimeDirectory", "keyturn/" NAME_KUBE "/%s", pod->directory);
        kube_line(file, NULL, "RuntimeDirectoryMode", "0700");
        kube_line_words(file, NULL, "ExecStartPre", words);
}

void kube_labels(const KubePod *pod, KubeFile *file) {
        const GPtrArray *labels = kube_map(pod->kube, pod->metadata, "labels");

        for (guint i = 0; i < labels->len; i++) {
                const YamlNode *label = labels->pdata[i];
                g_autofree char *word = g_strdup_printf("%s=%s", label->key, kube_scalar(pod->kube, label) ?: "");

                kube_line_word(file, label, "Label", word);
        }
}

static void put_pod(const KubePod *pod) {
        Kube *kube = pod->kube;
        const GPtrArray *containers = kube_list(kube, pod->spec, "containers");
        const char *hostname = kube_text(kube, pod->spec, "hostname");
        KubeFile file;

        kube_file_begin(&file, kube, g_strdup_printf("%s.pod", pod->stem), "Unit", pod->spec);
        kube_line(&file, NULL, "PartOf", "%s.kube", kube->stem);
        kube_section(&file, "Pod");
        kube_line(&file, pod->metadata, "PodName", "%s", pod->name);
        if (hostname && hostname[0])
                kube_line(&file, yaml_node_get(pod->spec, "hostname"), "HostName", "%s", hostname);
        put_network(pod, &file);
        for (guint i = 0; i < containers->len; i++)
                put_ports(pod, &file, containers->pdata[i]);
        put_hosts(pod, &file);
        put_dns(pod, &file);
        put_namespaces(pod, &file);
        kube_pod_security(pod, &file);
        kube_labels(pod, &file);
        kube_extras(&file, kube->pod_lines);
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

        kube_check(kube, object, "kind metadata spec", kube_object_others);
        kube_check(kube, yaml_node_get(object, "metadata"), metadata_read, metadata_others);
        if (template != object) {
                kube_check(kube, spec, "template replicas", workload_others);
                kube_check(kube, yaml_node_get(template, "metadata"), metadata_read, metadata_others);
                if (kube_number(kube, spec, "replicas", &replicas) && replicas != 1)
                        kube_warning(kube, yaml_node_get(spec, "replicas"), "is ignored: one pod is started");
        }
        spec = yaml_node_get(template, "spec");
        if (!spec)
                kube_error(kube, template ?: object, "has no spec of a pod");
        return spec && kube_check(kube, spec, spec_read, spec_others);
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
