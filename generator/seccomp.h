/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "generator/container.h"
#include "generator/root.h"

/* The seccomp filters that the containers of this system need: for keyturn-seccomp.service, which
 * compiles them before the first container starts. */
typedef struct SeccompFilters SeccompFilters;

SeccompFilters *seccomp_filters_new(const Root *root, const char *root_path);
void seccomp_filters_free(SeccompFilters *filters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeccompFilters, seccomp_filters_free)

/* Is the profile that the container names a profile? One whose file is not there, or not yet, is for the
 * start to judge. Adds to the container's problems. */
void seccomp_filters_check(SeccompFilters *filters, Container *container);

/* Notes the filter of a container. One whose profile is only known to systemd (%i, ${VAR}) is left out:
 * libstart compiles it at the first start. */
void seccomp_filters_add(SeccompFilters *filters, const Container *container);

/* The drop-in, or NULL if no container has a filter. Transfer full. */
GString *seccomp_filters_print(const SeccompFilters *filters);
