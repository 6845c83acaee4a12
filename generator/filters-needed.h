/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "generator/container.h"
#include "generator/tree.h"

/* The seccomp filters that the containers of this system need: for keyturn-seccomp.service, which
 * compiles them before the first container starts. */
typedef struct FiltersNeeded FiltersNeeded;

FiltersNeeded *filters_needed_new(const Tree *tree, const char *root_path);
void filters_needed_free(FiltersNeeded *filters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FiltersNeeded, filters_needed_free)

/* Is the profile that the container names a profile? One whose file is not there, or not yet, is for the
 * start to judge. Adds to the container's problems. */
void filters_needed_check(FiltersNeeded *filters, Container *container);

/* Notes the filter of a container. One whose profile is only known to systemd (%i, ${VAR}) is left out:
 * libstart compiles it at the first start. */
void filters_needed_add(FiltersNeeded *filters, const Container *container);

/* The drop-in, or NULL if no container has a filter. Transfer full. */
GString *filters_needed_print(const FiltersNeeded *filters);
