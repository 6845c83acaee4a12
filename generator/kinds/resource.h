/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"
#include "generator/unit/keys.h"

/* What containers use, and services of their own make ahead of them: pods, volumes, networks and images. */

/* Make the service of such a file: the one that makes the volume or network, pulls the image or artifact unless it is
 * there, or builds it; of a pod, a oneshot that pins its namespaces, with what its containers have in common in its
 * LaunchArgs. Takes ownership of service_name. Never fails: look at the findings. Transfer full. */
typedef Conversion *ResourceConvert(const SourceFile *source, char *service_name, const UnitNames *names,
                                    KeyturnConf *conf);

ResourceConvert artifact_convert, build_convert, image_convert, network_convert, pod_convert, volume_convert;

/* With what its keys say, and what is wrong with them. Takes ownership of service_name. Transfer full. */
Conversion *resource_new(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf,
                         const KeyTable *keys);

/* What a oneshot makes, a volume or a network: a container that starts early needs it as early. mounts: one word of
 * RequiresMountsFor=. */
void resource_service(Conversion *resource, const char *mounts);
