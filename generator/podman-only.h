/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Refuse a file of which only Podman's generator makes a service, where that generator does not read it. Nothing
 * happens with any other file. */
void podman_only_refuse(Run *run, const SourceFile *source);
