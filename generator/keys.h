/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "generator/container.h"
#include "generator/values.h"

typedef struct Key Key;

/* What one key does, with one value. Fails with what is wrong about the value; file, line and key are put in
 * front by the caller. */
typedef bool (*KeyHandler)(Container *container, const Key *key, const Value *value, GError **error);

struct Key {
        const char *name;
        Read read;
        KeyHandler handle; /* NULL: known, and refused */
        const char *
                text; /* the option of libstart where the handler is set_option() or its like, else why it is refused and
                              what to do instead */
};

/* The keys of [Container], sorted by name (byte order). */
extern const Key keys_container[];
extern const size_t n_keys_container;

/* The keys of [Quadlet] and of [Keyturn], sorted in the same way. */
extern const Key keys_quadlet[];
extern const size_t n_keys_quadlet;
extern const Key keys_keyturn[];
extern const size_t n_keys_keyturn;

/* Give every assignment of the section to its key, in the table's order. Problems go to the container. */
void keys_apply(Container *container, const UnitSection *section, const Key *keys, size_t n_keys);
