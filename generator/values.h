/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/unit-file.h"

/* How the lines that assign one key become values. Which key is read how is Podman's; see keys-container.c.
 * */
typedef enum Read {
        READ_LAST,      /* the last line, one pair of quotes around it removed; an empty one means unset */
        READ_LAST_SET,  /* the same, but an empty one is a value */
        READ_BOOLEAN,   /* the last line: "true" or "false" */
        READ_LINES,     /* every line as it is; an empty one, here and below, forgets those before it */
        READ_WORDS,     /* every line, words, a backslash is a backslash */
        READ_ARGS,      /* every line, words as in ExecStart= */
        READ_LAST_ARGS, /* the last line, words as in ExecStart= */
        READ_PAIRS,     /* as READ_ARGS, each word KEY=VALUE or KEY; the last of a KEY counts, sorted by KEY */
} Read;

typedef struct Value {
        char *text;
        const UnitLine *line; /* where it was written */
} Value;

/* A GArray of Value that frees its elements. */
GArray *values_new(void);

/* Append to `values` what the lines (of const UnitLine*, in order) mean. On failure *ret_line is the bad
 * one. */
bool values_read(GArray *values, const GPtrArray *lines, Read read, const UnitLine **ret_line, GError **error);

/* One pair of double quotes around all of `text` removed. Transfer full. */
char *value_unquote(const char *text);

/* Podman's words for true and false, in any case; anything else is an error, where Podman takes it for
 * false. */
bool value_parse_boolean(const char *text, bool *ret, GError **error);
