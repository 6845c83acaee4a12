/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Rows of text, shown in columns or as JSON. */
typedef struct Table Table;

/* columns: NULL-terminated, borrowed. The keys of the JSON are the same in lower case; what begins with '#' is a
 * number there, and shown without the '#'. */
Table *table_new(const char *const *columns);
void table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/* One value for each column, taken over. NULL: none, "-" or null. */
void table_add(Table *table, ...);

/* bold: of the headings, for a terminal. Transfer full. */
char *table_format(const Table *table, bool bold);
char *table_format_json(const Table *table);

/* To standard output. */
void table_print(const Table *table, bool json);
