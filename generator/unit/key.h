/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* How the lines that assign a key become values, as Podman reads it. */
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

typedef struct Key Key;

/* What a key does with one value. Fails with what is wrong about the value; the caller adds file, line and key. */
typedef bool KeyHandler(Conversion *container, const Key *key, const Value *value, GError **error);

struct Key {
        const char *name;
        Read read;
        KeyHandler *handle; /* NULL: known, and refused */
        const char
                *text; /* for the handler (handle_option(): the option of libstart); else why it is refused, and what
                              to do instead */
        const char *fine; /* values of a refused key that say what keyturn does anyway, with blanks between */
};

/* The handler of a key that is an option of libstart: key->text names it. And that of one that others read. */
KeyHandler handle_option, handle_nothing;

/* `path`, resolved against the directory unless it is absolute or begins with a specifier. Transfer full. */
char *key_resolve_path(const char *directory, const char *path);

/* Set an option of libstart. Errors do not name the option, for the user knows the key. */
bool key_set_option(Conversion *container, const char *option, const char *value, GError **error);

/* Podman's words for true and false, in any case; anything else is an error, where Podman takes it for false. */
bool key_parse_boolean(const char *text, bool *ret, GError **error);
