/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"

static const KubeField http_others[] = { { "httpHeaders", KUBE_REFUSED, "use exec with curl -H" }, { 0 } };

static const char probe_read[] =
        "exec httpGet tcpSocket initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold";
static const KubeField probe_others[] = {
        { "grpc", KUBE_REFUSED, "use exec" },
        { "terminationGracePeriodSeconds", KUBE_REFUSED, "the pod's counts: write it there" },
        { 0 },
};

/* A number, or the name of one of the container's ports. NULL, and an error, where it is neither. Transfer full. */
static char *find_port(KubeContainer *container, const YamlNode *map) {
        Kube *kube = container->pod->kube;
        const char *wanted = kube_text(kube, map, "port");
        const GPtrArray *ports = kube_list(kube, container->node, "ports");
        guint64 number;

        if (wanted && g_ascii_string_to_unsigned(wanted, 10, 1, 65535, &number, NULL))
                return g_strdup(wanted);
        for (guint i = 0; wanted && i < ports->len; i++)
                if (g_strcmp0(kube_text(kube, ports->pdata[i], "name"), wanted) == 0)
                        return g_strdup(kube_text(kube, ports->pdata[i], "containerPort"));
        kube_error(kube, map, "port: '%s' is neither a number nor the name of a port", wanted ?: "");
        return NULL;
}

static bool is_url_part(const char *text) {
        for (; *text; text++)
                if (!g_ascii_isalnum(*text) && !strchr("-._~:/?#[]@!&'()*+,;=%", *text))
                        return false;
        return true;
}

/* As Podman: curl or nc of the image. */
static void add_words(KubeContainer *container, const YamlNode *probe, GPtrArray *words) {
        Kube *kube = container->pod->kube;
        const YamlNode *exec = yaml_node_get(probe, "exec"), *http = yaml_node_get(probe, "httpGet"),
                       *tcp = yaml_node_get(probe, "tcpSocket"), *net = http ?: tcp;
        const GPtrArray *command = kube_list(kube, exec, "command");
        const char *host = kube_text(kube, net, "host") ?: "localhost", *path = kube_text(kube, http, "path") ?: "/";
        g_autofree char *port = !exec && net ? find_port(container, net) : NULL, *scheme = NULL;

        kube_check(kube, exec, "command", NULL);
        kube_check(kube, http, "path port host scheme", http_others);
        kube_check(kube, tcp, "port host", NULL);
        for (guint i = 0; i < command->len; i++)
                g_ptr_array_add(words, g_strdup(kube_scalar(kube, command->pdata[i]) ?: ""));
        if (!port)
                return;
        if (host[0] == '-' || !is_url_part(host) || !is_url_part(path))
                kube_error(kube, net, "host or path is no part of a URL");
        scheme = g_ascii_strdown(kube_text(kube, http, "scheme") ?: "http", -1);
        if (http) {
                g_ptr_array_add(words, g_strdup("curl"));
                g_ptr_array_add(words, g_strdup("-f"));
                g_ptr_array_add(words, g_strdup_printf("%s://%s:%s%s%s", scheme, host, port,
                                                       path[0] == '/' ? "" : "/", path));
        } else {
                g_ptr_array_add(words, g_strdup("nc"));
                g_ptr_array_add(words, g_strdup("-z"));
                g_ptr_array_add(words, g_strdup("-v"));
                g_ptr_array_add(words, g_strdup(host));
                g_ptr_array_add(words, g_steal_pointer(&port));
        }
}

static void put_number(KubeContainer *container, const YamlNode *probe, const char *name, gint64 otherwise,
                       const char *key, const char *unit) {
        gint64 number = otherwise;

        if (key && (kube_number(container->pod->kube, probe, name, &number) || otherwise >= 0))
                kube_line(&container->file, yaml_node_get(probe, name) ?: probe, key, "%" G_GINT64_FORMAT "%s",
                          number, unit);
}

/* With the defaults of Kubernetes. One that may take no time takes a second. */
static bool put_probe(KubeContainer *container, const YamlNode *probe, bool is_startup) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!probe || !kube_check(container->pod->kube, probe, probe_read, probe_others))
                return false;
        add_words(container, probe, words);
        if (words->len == 0) {
                kube_error(container->pod->kube, probe, "names no command, no port and no URL");
                return false;
        }
        if (words->len == 1) /* would be for the shell */
                g_ptr_array_insert(words, 0, g_strdup("env"));
        kube_line_json(&container->file, probe, is_startup ? "HealthStartupCmd" : "HealthCmd", words);
        put_number(container, probe, "periodSeconds", 10, is_startup ? "HealthStartupInterval" : "HealthInterval",
                   "s");
        put_number(container, probe, "timeoutSeconds", 1, is_startup ? "HealthStartupTimeout" : "HealthTimeout", "s");
        put_number(container, probe, "failureThreshold", 3, is_startup ? "HealthStartupRetries" : "HealthRetries",
                   "");
        put_number(container, probe, "successThreshold", -1, is_startup ? "HealthStartupSuccess" : NULL, "");
        put_number(container, probe, "initialDelaySeconds", -1, is_startup ? NULL : "HealthStartPeriod", "s");
        return true;
}

void kube_probes(KubeContainer *container) {
        const YamlNode *startup = yaml_node_get(container->node, "startupProbe"),
                       *liveness = yaml_node_get(container->node, "livenessProbe");

        if (startup && !liveness)
                kube_error(container->pod->kube, startup, "is of use before a livenessProbe only, and there is none");
        put_probe(container, startup, true);
        if (put_probe(container, liveness, false))
                kube_line(&container->file, liveness, "HealthOnFailure", "kill");
}
