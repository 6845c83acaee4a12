/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container-units.h"

/* An annotation of a running container, as libstart left it in the state. NULL where there is none; with an error where there
 * is no state. Transfer full. */
char *container_annotation(const ContainerUnit *container, const char *name, GError **error);
