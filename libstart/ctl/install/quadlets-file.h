/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Names of Quadlet's files, and files that have several of them. Text only. */

/* Does the name end like one of Quadlet's? */
bool quadlet_is_file_name(const char *name);

typedef struct QuadletFile {
        char *name; /* "web.container" */
        char *text;
} QuadletFile;

/* The files in one whose name ends in ".quadlets": between lines "---", each with a line "# FileName=NAME", whose
 * suffix is that of its section ([Container]: NAME.container). Rules: podman-quadlet-install(1). Array of
 * QuadletFile*; fails with KT_ERROR_USAGE and the line, counted from 1. */
GPtrArray *quadlets_file_split(const char *text, GError **error);
