/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* A unit file with its drop-ins: the sections in the order in which they first appear, each with all of its lines
 * (comments and empty lines, too) and where they were written. All strings belong to the UnitFile. */

typedef struct UnitLine {
        const char *key;   /* NULL: a comment or an empty line */
        const char *value; /* continued lines are joined, blanks at both ends removed */
        const char *text;  /* what to print, without the last newline */
        const char *path;  /* file or drop-in */
        unsigned number;   /* of the (first) line in it, from 1 */
        unsigned place;    /* counts on from the file to its drop-ins */
} UnitLine;

typedef struct UnitSection {
        const char *name; /* NULL: what stands before the first section: comments only */
        UnitLine header;  /* where it begins; has no key */
        GArray *lines;    /* of UnitLine */
} UnitSection;

/* A line that is neither section, comment nor KEY=VALUE. */
typedef struct UnitProblem {
        UnitLine line; /* where it is; has no key */
        const char *text;
} UnitProblem;

typedef struct UnitFile {
        GPtrArray *sections; /* of UnitSection */
        GStringChunk *strings;
        GArray *problems;   /* of UnitProblem */
        GPtrArray *dropins; /* paths of those that have lines, in their order; of const char* */
        UnitSection *current;
        unsigned n_places;
        mode_t readers; /* who may read all that is in it (tree.h); the caller's to set */
} UnitFile;

UnitFile *unit_file_new(void);
void unit_file_free(UnitFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitFile, unit_file_free)

/* Add `text` (length bytes, terminated) to the file: once for the file itself, then for each drop-in. The line
 * syntax is Podman's (podman-systemd.unit(5)), not systemd's: a line is continued by joining, without a blank, and
 * comments and empty lines in between are skipped. Bad lines are noted as problems. Fails where
 * there are any so far, with "PATH:LINE: ..." of the first. */
bool unit_file_parse(UnitFile *file, const char *path, const char *text, size_t length, GError **error);

/* The section of that name (NULL: the one before all), or NULL. */
UnitSection *unit_file_section(const UnitFile *file, const char *name);

/* The last line that assigns `key`, or NULL. Section may be NULL. */
const UnitLine *unit_section_last(const UnitSection *section, const char *key);

/* The last such line with `text` in its value, or at the end of that. */
const UnitLine *unit_section_last_with(const UnitSection *section, const char *key, const char *text);
const UnitLine *unit_section_last_ending(const UnitSection *section, const char *key, const char *end);

/* Whether a later line of `section`, which has `line`, takes it back: assigns nothing to its key, which is a list. */
bool unit_section_takes_back(const UnitSection *section, const UnitLine *line);

/* The last value of `key` in that section, unquoted; NULL where it is not set, or empty. Transfer full. */
char *unit_file_value(const UnitFile *file, const char *section, const char *key);

/* Copy into the file's strings: lives as long as the file. */
const char *unit_file_keep(UnitFile *file, const char *string);

/* Append the lines of a section, each with a newline. */
void unit_section_print(const UnitSection *section, GString *output);

/* The words of a value as systemd has them (systemd.syntax(7), QUOTING). Specifiers (%i) and variables (${X}) are
 * ordinary characters here. */
typedef enum WordsSyntax {
        WORDS_PLAIN,   /* quotes are removed, a backslash is a backslash */
        WORDS_ESCAPED, /* C escapes are resolved, too */
        WORDS_RELAXED, /* as ExecStart=: and an unknown one (\d) stands for itself */
} WordsSyntax;

/* Append the words of `line` to `words`, a GPtrArray that frees its elements. Fails on an open quote, an unknown
 * escape unless they are relaxed, a malformed one, and one that stands for NUL or for what is not UTF-8; `words` is
 * then as it was. */
bool words_split(GPtrArray *words, const char *line, WordsSyntax syntax, GError **error);

/* One pair of double quotes around all of `text` removed. Transfer full. */
char *words_unquote(const char *text);
