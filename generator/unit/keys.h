/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "generator/unit/key.h"

/* The keys of a section, sorted by name (byte order). */
typedef struct KeyTable {
        const char *section;
        const Key *keys;
        size_t n_keys;
        bool is_open; /* it has other keys, which are systemd's: what looks like a slip is a warning */
} KeyTable;

/* Every key of [Quadlet]. */
extern const KeyTable keys_quadlet;

/* Give the section's values to their keys, in the order of the table. Whatever is wrong with any line is added to
 * the conversion's findings. Nothing happens where the file has no such section. */
void keys_apply(Conversion *container, const KeyTable *table);

/* The values of one key, which are right or have been found wrong by keys_apply(). Transfer full, of char*. */
GPtrArray *keys_find_values(Conversion *container, const KeyTable *table, const char *name);

/* Give a value to a key of the section that describes the file (Conversion.keys) as an option of podman run, in
 * `line`, says it. Booleans are true and false. */
bool keys_apply_value(Conversion *container, const char *name, const char *text, const UnitLine *line,
                      GError **error);

/* Is `name` the other one with a slip or two in it, such as "Containers" for "Container"? */
bool keys_is_slip(const char *name, const char *meant);
