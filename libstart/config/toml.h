/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The part of TOML 1.0 that the files of containers-*.conf(5) use: tables, arrays of tables, strings of all four
 * kinds, booleans, arrays, inline tables. Numbers and times are accepted, and kept as they are
 * written. No TOML library comes with Debian as a static C library. Pure. */
typedef enum TomlType {
        TOML_STRING,
        TOML_BOOLEAN,
        TOML_ARRAY,
        TOML_TABLE,
        TOML_OTHER, /* a number, a date or a time: `string`, not interpreted */
} TomlType;

typedef struct TomlValue {
        TomlType type;
        unsigned line; /* where it begins, from 1 */
        bool closed;   /* complete: cannot be extended by a later header or key */
        union {
                char *string;
                bool boolean;
                GPtrArray *array;  /* of TomlValue* */
                GHashTable *table; /* char* -> TomlValue* */
        };
} TomlValue;

/* text: need not end in a NUL. name: of the file, for errors, which read "name:line: what is wrong".
 * Returns the top-level table, or NULL with KT_ERROR_FAILED. */
TomlValue *toml_parse(const char *text, size_t length, const char *name, GError **error);

/* The value of a key of a table, or NULL; NULL too where table is NULL or no table, so that calls can be nested. */
const TomlValue *toml_get(const TomlValue *table, const char *key);

void toml_free(TomlValue *value);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TomlValue, toml_free)
