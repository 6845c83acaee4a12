/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What was found, for people and for programs. */
typedef struct Remark {
        char *file;       /* NULL: of no file in particular */
        guint line;       /* from 1; 0: the file as a whole */
        guint column;     /* from 1, in characters; 0 with line 0 */
        bool is_error;    /* else a warning */
        const char *rule; /* one of those in keyturn-generator(8), VERIFY */
        char *key;        /* or NULL */
        char *message;
} Remark;

typedef struct Report {
        GArray *remarks; /* of Remark */
        char *root;      /* "" or the directory that stands for /: columns are looked up in the files */
} Report;

Report *report_new(const char *root);
void report_free(Report *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Report, report_free)

/* `rule` is not copied. file, key: NULL for none; line 0: the file as a whole. The column is what place_take_column()
 * finds in front of the message, or found in the file. */
void report_add(Report *report, const char *file, guint line, const char *key, bool is_error, const char *rule,
                const char *message);

/* "FILE:LINE:COLUMN: error: 'KEY=': MESSAGE", as a terminal may have it. Transfer full. */
char *remark_print(const Remark *remark);

/* By file and line; each once. */
void report_sort(Report *report);

/* A line each, of remark_print(); or a JSON array. */
void report_print(const Report *report, bool json);

bool report_has_error(const Report *report);
