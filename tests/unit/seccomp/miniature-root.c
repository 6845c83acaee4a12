/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "tests/unit/seccomp/miniature-root.h"

/* Longer than a tick of the kernel's clock, and than what libstart/seccomp/obtain.c waits for. */
#define SETTLE_US 30000

char *root_make(const RootFile *files) {
        char *root = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);

        for (; files->path; files++)
                root_write(root, files->path, files->text);
        return root;
}

void root_write(const char *root, const char *path, const char *text) {
        g_autofree char *full = g_strconcat(root, path, NULL), *dir = g_path_get_dirname(full);

        if (g_mkdir_with_parents(dir, 0755) < 0)
                g_error("cannot make '%s'", dir);
        if (!text)
                return;
        /* g_file_set_contents() makes a new file, or does not cut the old one. */
        FILE *file = fopen(full, "we");
        if (!file || fputs(text, file) < 0 || fclose(file) < 0)
                g_error("cannot write '%s'", full);
}

void root_settle(void) {
        g_usleep(SETTLE_US);
}

void root_remove(char *root) {
        const char *argv[] = { "rm", "-rf", root, NULL };

        if (!g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL))
                g_error("cannot remove '%s'", root);
        g_free(root);
}
