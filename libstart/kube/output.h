/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/kube/kube.h"

/* What keyturn-kube prints, and keyturn-generator reads, line by line:
 *
 *   F NAME          a Quadlet file begins
 *   L NUMBER TEXT   a line of it, made from that line ...
 *   P PATH          ... of this file, until another one is named
 *   E LINE:COLUMN: TEXT   what is wrong there: nothing of the .kube file may start; 0:0 is the file as a whole
 *   W LINE:COLUMN: TEXT   what is ignored
 */

/* A Quadlet file that is being written. */
typedef struct KubeFile {
        Kube *kube;
        char *name; /* "app-web.pod" */
        const char *section;
        bool is_begun;        /* the section has a line */
        const char *path;     /* the last one named */
        const YamlNode *node; /* where it is from: for what has no line of its own */
        GString *text;
} KubeFile;

/* Takes ownership of name. */
void kube_file_begin(KubeFile *file, Kube *kube, char *name, const char *section, const YamlNode *node);

/* What follows is in another section, which the file does not have yet. */
void kube_section(KubeFile *file, const char *section);

/* Appends it to the output, and clears it. */
void kube_file_end(KubeFile *file);

/* A line "KEY=VALUE". The value is one for which $ and % stand for themselves, as it is in the unit.
 * node: where it is from; NULL: the file's. */
void kube_line(KubeFile *file, const YamlNode *node, const char *key, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* The same with a word in quotes, as Environment= and Exec= read them: any text. */
void kube_line_word(KubeFile *file, const YamlNode *node, const char *key, const char *word);
void kube_line_words(KubeFile *file, const YamlNode *node, const char *key, const GPtrArray *words);

/* The same as an array of JSON. */
void kube_line_json(KubeFile *file, const YamlNode *node, const char *key, const GPtrArray *words);

/* A line that the .kube file has there, and all of them. */
void kube_extra(KubeFile *file, unsigned number, const char *text);
void kube_extras(KubeFile *file, const GArray *extras);

/* What is wrong with, or ignored of, the value of that node. */
#define KUBE_ERROR 'E'
#define KUBE_WARNING 'W'
void kube_say(Kube *kube, char kind, const YamlNode *node, const char *format, ...) G_GNUC_PRINTF(4, 5);
#define kube_error(kube, node, ...) kube_say(kube, KUBE_ERROR, node, __VA_ARGS__)
#define kube_warning(kube, node, ...) kube_say(kube, KUBE_WARNING, node, __VA_ARGS__)

/* What is wrong with a file of which there is no tree; text: "LINE:COLUMN: ..." or without. */
void kube_error_text(Kube *kube, const char *path, const char *text);
