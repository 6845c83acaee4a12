/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/printable.h"
#include "libstart/network/lock-holder.h"

static bool has_lock(const char *process, const char *descriptor) {
        g_autofree char *path = g_strdup_printf("/proc/%s/fdinfo/%s", process, descriptor), *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) && strstr(text, "\nlock:");
}

static bool holds(const char *process, const struct stat *file) {
        g_autofree char *directory = g_strdup_printf("/proc/%s/fd", process);
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);
                struct stat st;

                if (stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino &&
                    has_lock(process, name))
                        return true;
        }
        return false;
}

/* A name is its process's to choose. */
static char *describe(const char *process) {
        g_autofree char *path = g_build_filename("/proc", process, NULL);
        g_autofree char *name_path = g_build_filename(path, "comm", NULL), *name = NULL, *shown = NULL;
        struct stat st = { 0 };

        (void) stat(path, &st);
        (void) g_file_get_contents(name_path, &name, NULL, NULL);
        shown = printable(name ? g_strchomp(name) : "?");
        return g_strdup_printf("process %s (%s) of user %u", process, shown, st.st_uid);
}

char *lock_holder_find(int fd) {
        g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
        const char *name;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return NULL;
        while (dir && (name = g_dir_read_name(dir)))
                if (g_ascii_isdigit(name[0]) && holds(name, &st))
                        return describe(name);
        return NULL;
}
