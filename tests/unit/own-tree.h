/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>
#include <glib.h>

/* A directory of a test's own, by g_dir_make_tmp(), and files in it. */

static inline void own_tree_put(const char *top, const char *path, const char *text) {
        g_autofree char *full = g_build_filename(top, path, NULL), *directory = g_path_get_dirname(full);

        ck_assert_int_eq(g_mkdir_with_parents(directory, 0755), 0);
        ck_assert(g_file_set_contents(full, text, -1, NULL));
}

/* With all that is in it; frees the string. */
static inline void own_tree_remove(char *top) {
        const char *argv[] = { "rm", "-rf", top, NULL };

        ck_assert(g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
        g_free(top);
}
