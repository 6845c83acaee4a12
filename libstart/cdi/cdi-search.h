/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/cdi/cdi-file.h"

/* The files of CDI that a container needs, each read once: /etc/cdi and, stronger, /run/cdi. */
typedef struct CdiSearch CdiSearch;

/* root: "" or the directory that stands for /. */
CdiSearch *cdi_search_new(const char *root);
void cdi_search_free(CdiSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CdiSearch, cdi_search_free)

/* Appends to `edits` (of const CdiEdits*, which live as long as the search) what the device VENDOR/CLASS=NAME needs: what
 * each device of its file needs, unless that is there already, and its own. KT_ERROR_NOT_FOUND where no file has it. */
bool cdi_search_find(CdiSearch *search, const char *name, GPtrArray *edits, GError **error);
