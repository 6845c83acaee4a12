/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* Pods and their containers, as their files name each other. A pod is namespaces that its service pins
 * (libstart/pod/pod-command.h). */

/* Pod=NAME.pod of a container. */
KeyHandler handle_pod;

/* Of SourceFile: the containers that a pod's service starts, which are those without StartWithPod=false; of a
 * template those that are templates, too: their instances of the same name. Transfer container. */
GPtrArray *pod_find_started(const Conversion *pod);

/* Is the container, which is in a pod, one of those? */
bool pod_starts(const SourceFile *container);

/* Of char*: the names of all its containers, as far as they are known before systemd completes them. Transfer full.
 */
GPtrArray *pod_find_names(const Conversion *pod);

/* Do its containers share that: "ipc", "net" or "uts"? */
bool pod_shares(const Conversion *pod, const char *kind);

/* The words of libstart's that say which user namespace it has. */
void pod_add_user_namespace(const Conversion *pod, GString *line);

/* The name of the file that it is pinned as, which says by a digest of these words what was asked for: a container
 * that starts when the file says something else, and before its pod does, finds no such file. NULL: it has none.
 * Transfer full. */
char *pod_user_namespace(const Conversion *pod);

/* The name of a service without ".service"; of a template "NAME@%i". Transfer full. */
char *pod_stem(const char *service);
