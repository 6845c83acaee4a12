/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* What a .kube file has the units of its parts do. A part is a file that generator/kube-files.h has made of its YAML:
 * it has the .kube file's path. */

bool kube_parts_has(const Conversion *kube, const SourceFile *file);

/* ExitCodePropagation=: with the last of its containers the .kube file's service ends, by a target that they want;
 * and the command that says whether it has failed then. NULL: the file does not say it. Transfer full. */
void kube_part_ends(Conversion *container);
GString *kube_parts_ended(const Conversion *kube);

/* KubeDownForce=: when the .kube file's service stops, the volume of a claim is removed. True if it will be. */
bool kube_part_is_removed(Conversion *volume, const char *name);
