/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/kube/kube.h"

/* Add the documents of a file. only_maps: as with ConfigMap=, nothing but ConfigMaps may be in it. What is wrong is
 * in kube->output; path must outlive kube. */
void kube_add(Kube *kube, const char *path, const char *text, gsize length, bool only_maps);

/* Make Quadlet files and data of what was added. Errors and warnings are in kube->output, too; kube->failed. */
void kube_convert(Kube *kube);
