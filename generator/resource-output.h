/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Write the service of what containers use: a volume, a network, an image, a pod. Or say why not. */
void resource_put(Run *run, const SourceFile *source);
