/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Rows of text, shown in columns or as JSON. */
typedef struct Table Table;

/* columns: NULL-terminated, borrowed. The keys of the JSON are the same in lower case, with "_" for "-". The first
 * character may say what the values are, and is not shown:
 *   #  numbers
 *   %  sizes in bytes: numbers in JSON, shown as "1.5M"
 *   ~  times, as in ISO 8601: shown as "3 days ago"
 *   @  lists, of table_join(): arrays in JSON, shown with blanks between them */
Table *table_new(const char *const *columns);
void table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/* One value for each column, taken over. NULL: none, "-" or null. */
void table_add(Table *table, ...);

/* Words as the value of a column of lists, a line for each, with what is no plain text in it as g_strescape() has it;
 * NULL where there are none. Transfer full. */
char *table_join(char *const *words, gsize n);

/* bold: of the headings, for a terminal. width: of that, in characters: the first columns that fit into it; 0: all.
 * Transfer full. */
char *table_format(const Table *table, bool bold, guint width);
char *table_format_json(const Table *table);

/* "3 days ago". Transfer full. */
char *table_show_age(gint64 seconds);

/* A moment in local time, of microseconds since 1970; NULL for 0. Transfer full. */
char *table_format_since(guint64 usec);

/* A line for each value, for few rows of many columns. Transfer full. */
char *table_format_long(const Table *table);

/* To standard output: of a terminal, as many columns as fit. */
void table_print(const Table *table, bool json);
void table_print_long(const Table *table, bool json);
