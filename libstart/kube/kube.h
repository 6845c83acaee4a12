/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/yaml/tree.h"

/* A line that the .kube file has for each pod or container, such as "Network=x.network"; or a word of AutoUpdate=:
 * POLICY, or CONTAINER/POLICY. */
typedef struct KubeExtra {
        unsigned number; /* of the line in the .kube file */
        const char *text;
        bool is_used; /* of AutoUpdate=: there is such a container */
} KubeExtra;

/* A file that a volume shows or that holds variables, made when its pod starts. */
typedef struct KubeData {
        char *path; /* below PATH_RUN "/kube": "app-web-pod/config/nginx.conf" */
        GBytes *bytes;
        mode_t mode;
} KubeData;

/* One .kube file on its way to Quadlet files. Whoever converts fills in the first part; strings are borrowed. */
typedef struct Kube {
        const char *stem;      /* of the .kube file: "app" */
        const char *path;      /* its own, for the lines that come from it */
        const char *directory; /* host paths that are relative begin here; NULL: they are refused */
        GArray *pod_lines, *container_lines, *updates; /* of KubeExtra */
        bool is_forced;   /* KubeDownForce=: each volume of a claim is removed, by a unit of its own */
        GPtrArray *files; /* of const char*: the words of keyturn-kube's command line that name the YAML */

        GPtrArray *trees;                           /* of YamlTree */
        GHashTable *paths;                          /* topmost YamlNode -> path of its file */
        GHashTable *config_maps, *secrets, *claims; /* name -> topmost YamlNode */
        GHashTable *loose_claims;                   /* name -> YamlNode: there is no such object, and is_forced */
        GPtrArray *pods;                            /* of YamlNode: topmost ones that make a pod */
        GHashTable *written;                        /* names of Quadlet files that were written */
        GString *output;                            /* output.h says what is in it */
        GPtrArray *data;                            /* of KubeData */
        bool failed;
} Kube;

Kube *kube_new(void);
void kube_free(Kube *kube);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Kube, kube_free)
