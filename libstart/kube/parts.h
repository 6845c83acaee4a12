/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/kube/output.h"

/* The parts of a pod, each of which writes its lines into the files. */

typedef struct KubePod {
        Kube *kube;
        const YamlNode *metadata, *spec; /* the metadata may be NULL */
        char *name;                      /* "web" */
        char *stem;                      /* of its files: "app-web" */
        char *directory;                 /* of its data: "app-web-pod" */
        bool is_host_network;
} KubePod;

typedef struct KubeContainer {
        const KubePod *pod;
        const YamlNode *node;
        const char *name;
        bool is_init; /* it ends before the others begin */
        KubeFile file;
} KubeContainer;

/* pod.c: the whole pod. */
void kube_pod(Kube *kube, const YamlNode *object);

/* Has the .kube file a line for each pod that begins so? */
bool kube_has_pod_line(const Kube *kube, const char *start);

/* Labels, which the pod and each container have. */
void kube_labels(const KubePod *pod, KubeFile *file);

/* container.c: its file. after: the file that has to have started before, or NULL. Returns the name of its file;
 * transfer full. */
char *kube_container(const KubePod *pod, const YamlNode *node, bool is_init, const char *after);

/* environment.c: variables, Entrypoint= and Exec=, in which they are replaced. */
void kube_environment(KubeContainer *container);

/* annotations.c: those that say something to Podman; the rest is for the runtime. */
void kube_annotations(KubeContainer *container);

/* The one that says what the pod's user namespace is; NULL. */
const YamlNode *kube_userns(const KubePod *pod);

/* probe.c: health checks. */
void kube_probes(KubeContainer *container);

/* security.c: securityContext of both. */
void kube_pod_security(const KubePod *pod, KubeFile *file);
void kube_security(KubeContainer *container);

/* volumes.c: what volumes need ahead, once for a pod; and the mounts of a container. */
void kube_volumes(const KubePod *pod);
void kube_mounts(KubeContainer *container);

/* data.c: what must be in a file when the pod starts. name: below the pod's directory. Takes ownership of bytes. */
void kube_data_add(const KubePod *pod, const char *name, GBytes *bytes, mode_t mode);
bool kube_data_exists(const KubePod *pod);

/* The value of a key of a ConfigMap or Secret: what data=, stringData= or binaryData= say. NULL where there is none,
 * or an error. Transfer full. */
GBytes *kube_data_value(Kube *kube, const YamlNode *map, const char *key);

/* All keys of it, of const char*, in their order. Transfer full. */
GPtrArray *kube_data_keys(Kube *kube, const YamlNode *map);

/* The ConfigMap or Secret that `map`'s `field` names. NULL where there is none: an error, unless it is optional. */
const YamlNode *kube_data_find(Kube *kube, const YamlNode *map, const char *field, bool is_secret);
