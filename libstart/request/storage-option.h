/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* How much a container may write outside of its volumes. That is memory, so there always is a limit. */
typedef struct StorageLimits {
        guint64 size;   /* bytes; 0: not said, or as a percentage */
        guint percent;  /* of the machine's memory; 0: not said, or in bytes */
        guint64 inodes; /* files, directories, links; 0: not said */
} StorageLimits;

/* "size=SIZE", where SIZE is as in size.h or a percentage, or "inodes=NUMBER": sets that in *limits. Fails for what
 * would be no limit, and for less than a start itself needs. */
bool storage_option_parse(const char *value, StorageLimits *limits, GError **error);

/* "additionalimagestore=DIR[,DIR...]": appends the absolute directories to *stores, made where it is NULL; *ret says
 * whether `value` is that option at all. */
bool storage_option_parse_stores(const char *value, GPtrArray **stores, bool *ret, GError **error);

/* The stores (char*) that a container's own options add, of all values of --storage-opt; what is none is passed over.
 * Transfer full; NULL where there are none. */
GPtrArray *storage_option_find_stores(const GPtrArray *values);
