/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/load.h"
#include "generator/verify/report.h"
#include "libstart/request/launch-args.h"

/* What became of one file. */
typedef struct MadeUnit {
        const SourceFile *source;
        char *name;       /* "camera.service" */
        char *text;       /* of the unit */
        LaunchArgs *args; /* of a container, as in its ExecStart=; NULL for other units */
        bool is_refused;  /* it only says why its file is refused */
} MadeUnit;

/* One run of the generator: it, and nothing that imitates it, says what is wrong with files and what is made of them.
 */
typedef struct Generation {
        char *directory;  /* that the units are in; removed with the Generation */
        Sources *sources; /* the same files, for their lines */
        GPtrArray *units; /* of MadeUnit */
        bool is_users;    /* the generator of users' managers made them */
} Generation;

/* generator: its program. search_path: directories, of char*, and NULL. root: "" or a directory that stands for /.
 * What it says is added to the report. */
Generation *generation_run(const char *generator, const char *root, const GPtrArray *search_path, Report *report,
                           GError **error);

/* The call alone, with an option, and a directory that is written into (NULL: none). NULL for what is not to be
 * known. */
bool generation_call(const char *generator, const char *option, const char *directory, const char *root,
                     const GPtrArray *search_path, char **ret_printed, char **ret_said, int *ret_status,
                     GError **error);

/* Is that program the one of users' managers? */
bool generation_is_users(const char *generator);
void generation_free(Generation *generation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Generation, generation_free)

/* The last line of [section] that assigns `key` and has `text` (NULL: anything) in its value, or NULL. */
const UnitLine *source_find_line(const SourceFile *source, const char *section, const char *key, const char *text);

/* Is `path` the file's, that of one of its drop-ins, or that of YAML that it names? */
bool source_has_path(const SourceFile *source, const char *path);

/* Is the remark about that file? What is wrong with YAML may be so for only one of two .kube files that name it, by
 * its Network= or for want of a ConfigMap=. */
bool generation_is_about(const Generation *generation, const SourceFile *source, const Remark *remark);
