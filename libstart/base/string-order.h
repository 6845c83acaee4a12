/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <string.h>

/* For g_ptr_array_sort() and qsort(3), of an array of strings, none of them NULL: byte by byte in any locale. */
static inline int string_order(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}
