/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/key.h"
#include "generator/keyturn-conf.h"

/* Containers in pods. A pod is namespaces that its service pins (libstart/run/pod-command.h); its containers join them. */

/* Pod=NAME.pod. */
KeyHandler handle_pod;

/* What a container with Pod= has of its pod: dependencies, namespaces, network, volumes; and what it cannot have because of
 * it. Called when its other keys and its PodmanArgs= have been applied, before its network is known. */
void pod_join(Container *container, KeyturnConf *conf);

/* The services that a pod starts, of SourceFile: those of its containers without StartWithPod=false. Transfer container. */
GPtrArray *pod_find_started(const SourceFile *pod, const UnitNames *names);

/* The name of a service without ".service". Transfer full. */
char *pod_stem(const char *service);
