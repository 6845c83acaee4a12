/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/cdi/cdi-file.h"

/* The files of CDI that a container needs, each read once: /etc/cdi and, stronger, /run/cdi. */
typedef struct CdiSearch CdiSearch;

/* Files in YAML are read from copies in JSON, which keyturn-cdi makes ahead. The time of a copy is that of the file's
 * last change (ctime). A copy that is missing or older is asked for. Transfer full. */
typedef char *CdiConvert(const char *path, GError **error);

CdiSearch *cdi_search_new(CdiConvert *convert);
void cdi_search_free(CdiSearch *search);

/* Where they are, from the stronger to the weaker; and the path of the copy of one. Transfer full. */
extern const char *const cdi_search_directories[];
char *cdi_search_copy_of(const char *path);

/* Appends the needs of the device VENDOR/CLASS=NAME to `edits` (of const CdiEdits*, as long-lived as the search):
 * first what its file says for all devices, unless that is there already, and then its own. KT_ERROR_NOT_FOUND where
 * no file has it. */
bool cdi_search_find(CdiSearch *search, const char *name, GPtrArray *edits, GError **error);
