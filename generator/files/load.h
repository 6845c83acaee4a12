/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/tree.h"
#include "generator/files/unit-file.h"

/* A Quadlet file as the search path has it: it alone counts under its name. */
typedef struct SourceFile {
        char *name;      /* "foo.container" */
        char *path;      /* in the tree: "/etc/containers/systemd/foo.container" */
        char *directory; /* of the file, with all links resolved; in the tree */
        bool is_masked;  /* empty, or a link to /dev/null */
        UnitFile *unit;  /* with drop-ins; only of files that make services, and could be read */
        GError *error;   /* why it could not be read; begins with a path. It still hides those of its name */
} SourceFile;

typedef struct Sources {
        GPtrArray *files;    /* of SourceFile, by name */
        GPtrArray *problems; /* of char*: directories that could not be read */
} Sources;

void source_file_free(void *data);

/* By name. */
void sources_sort(Sources *sources);
void sources_free(Sources *sources);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sources, sources_free)

/* Podman's search path for the system: $QUADLET_UNIT_DIRS (colons between absolute directories), else below /run,
 * /etc and /usr/share. Of char*, and a NULL behind them. Transfer full. */
GPtrArray *load_search_path(const char *unit_dirs);

/* The same for the manager of the user who executes this: below $XDG_RUNTIME_DIR and $XDG_CONFIG_HOME (~/.config),
 * and of the administrator's files those that are for that user or for all. */
GPtrArray *load_users_search_path(const char *unit_dirs);

/* Load everything in the directories and all below them. An earlier one hides later files of the same name. Where one
 * cannot be read, no file can: its drop-ins, and what hides it, may be there. Transfer full. */
Sources *load_sources(const Tree *tree, const GPtrArray *search_path);
