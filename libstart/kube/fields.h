/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/kube/kube.h"

typedef enum KubeSupport {
        KUBE_SILENT,  /* means nothing on one machine */
        KUBE_IGNORED, /* Podman ignores it, and so does keyturn, with a warning */
        KUBE_REFUSED,
} KubeSupport;

/* Fields of an object that nobody asks for. The tables are what keyturn.kube(5) lists. */
typedef struct KubeField {
        const char *names; /* with blanks between */
        KubeSupport support;
        const char *why; /* of what is ignored or refused */
} KubeField;

/* Of all that has a kind, metadata and a spec. */
extern const KubeField kube_object_others[];

/* Say what of a map is ignored, refused or not known at all. read: names of those fields that somebody asks for, with
 * blanks between; others: all else, up to a row without names, or NULL. False where the node is no map, which is an
 * error, too; NULL is fine. */
bool kube_check(Kube *kube, const YamlNode *map, const char *read, const KubeField *others);

/* The same of one value of a map. */
void kube_check_field(Kube *kube, const YamlNode *node, const char *read, const KubeField *others);

/* Values of a map, whose fields were checked. What has another type is an error, and as if it was not there. */
const char *kube_text(Kube *kube, const YamlNode *map, const char *name);
bool kube_flag(Kube *kube, const YamlNode *map, const char *name, bool otherwise);
bool kube_number(Kube *kube, const YamlNode *map, const char *name, gint64 *ret);

/* The items of a list, or the values of a map with its names as keys. Never NULL; borrowed. */
const GPtrArray *kube_list(Kube *kube, const YamlNode *map, const char *name);
const GPtrArray *kube_map(Kube *kube, const YamlNode *map, const char *name);

/* May it be the name of an object, a container or a volume? It becomes one of files, units and directories. */
bool kube_is_name(const char *name);
#define KUBE_NAME_RULE \
        "needs a name: letters, digits, '-', '.' and '_', beginning with one of the first two, at most 100"

/* The text of a scalar; NULL, and an error, where it is none. */
const char *kube_scalar(Kube *kube, const YamlNode *node);
