/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "generator/files/tree.h"
#include "generator/unit/conversion.h"
#include "libstart/request/security-option.h"

/* The seccomp filters that the containers of this system need: for keyturn-seccomp.service, which compiles them
 * before the first container starts. */
typedef struct FiltersNeeded FiltersNeeded;

FiltersNeeded *filters_needed_new(const Tree *tree, const char *root_path, bool for_image);
void filters_needed_free(FiltersNeeded *filters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FiltersNeeded, filters_needed_free)

/* The last seccomp option, which counts; without any, the default profile. *ret_is_known (may be NULL): systemd has
 * nothing to expand that could make another one of it. */
SecurityOption filters_needed_option(const LaunchArgs *args, bool *ret_is_known);

/* Add a problem where the container names a profile that is none. A file that is missing is not one: it may be there
 * when the container starts. */
void filters_needed_check(FiltersNeeded *filters, Conversion *container);

/* Note the filter of a container, but for one whose profile only systemd knows (%i, ${VAR}): libstart compiles it at
 * the first start. */
void filters_needed_add(FiltersNeeded *filters, const Conversion *container);

/* The drop-in, or NULL if no container has a filter. Transfer full. */
GString *filters_needed_print(const FiltersNeeded *filters);
