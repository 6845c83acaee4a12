/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* What is done with each file of a tree. `fd` (O_PATH or O_RDONLY) is open on it, and nobody can put another in its
 * place. */
typedef struct TreeVisitor {
        /* The top first, which is called ".", then all below it: a directory before what is in it. When the walk
         * begins anew, it is the top once more. */
        bool (*visit)(int fd, const struct statx *st, const char *name, void *data, GError **error);
        /* A directory after what is in it; NULL: nothing is done. */
        bool (*leave)(int fd, void *data, GError **error);
        void *data;
        bool stays_in_mount;
} TreeVisitor;

/* Walk through the directory or file `fd` (O_PATH or more), however deep it is, with few descriptors and little
 * memory. No link is followed, and nothing is entered that was not found in the tree, whatever a payload does
 * meanwhile. Where directories are moved while the walk is deep in them it begins anew, and fails the tenth time. An
 * error begins with a small letter: the caller says before it which tree it is, and what was to be done. */
bool tree_walk(int fd, const TreeVisitor *visitor, GError **error);
