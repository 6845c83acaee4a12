/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/load.h"

/* Add the Quadlet files that keyturn-kube makes of the YAML of all .kube files. They are among `sources` then, by
 * name, with the path of the .kube file and lines of the YAML. What is wrong becomes problems of the .kube file's
 * unit, and then there are none of its files. Where there is no .kube file, nothing happens. */
void kube_files_add(const Tree *tree, Sources *sources);
