/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/config/conf-files.h"
#include "libstart/config/small-file.h"

/* From the vendor's to the administrator's. */
static const char *const directories[] = { "/usr/share/containers", "/etc/containers" };

typedef struct Reading {
        ConfFileHandler handler;
        void *data;
} Reading;

static bool read_one(const Reading *reading, const char *path, bool *ret_exists, GError **error) {
        g_autofree char *text = NULL;
        size_t length = 0;

        if (!file_read(path, &text, &length, error))
                return false;
        *ret_exists = text != NULL;
        return !text || reading->handler(path, text, length, reading->data, error);
}

/* A file that the environment names must exist. */
static bool read_from_environment(const Reading *reading, const char *variable, bool *ret_set, GError **error) {
        const char *path = g_getenv(variable);
        bool exists;

        *ret_set = path && *path;
        if (!*ret_set)
                return true;
        if (!read_one(reading, path, &exists, error))
                return false;
        return exists || error_set(error, KT_ERROR_NOT_FOUND, "$%s is '%s', which does not exist", variable, path);
}

static bool read_main_file(const Reading *reading, const ConfFiles *files, const char *root, GError **error) {
        bool exists = false;

        for (size_t i = G_N_ELEMENTS(directories); i > 0 && !exists; i--) {
                g_autofree char *path = g_strconcat(root, directories[i - 1], "/", files->name, ".conf", NULL);

                if (!read_one(reading, path, &exists, error))
                        return false;
        }
        return true;
}

/* As podman does, without links. */
static bool add_drop_in(const char *directory, const char *name, GHashTable *paths, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        struct stat st;

        if (lstat(path, &st) < 0)
                return error_set_errno(error, errno, "Cannot read '%s'", path);
        if (S_ISREG(st.st_mode))
                g_hash_table_replace(paths, g_strdup(name), g_steal_pointer(&path));
        return true;
}

/* paths: char* name -> char* path */
static bool collect_drop_ins(const char *directory, GHashTable *paths, GError **error) {
        g_auto(GStrv) names = directory_list(directory, error);

        for (char **name = names; name && *name; name++)
                if (g_str_has_suffix(*name, ".conf") && !add_drop_in(directory, *name, paths, error))
                        return false;
        return names;
}

static bool read_sorted(const Reading *reading, GHashTable *paths, GError **error) {
        g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(paths), (GCompareFunc) strcmp);
        bool exists;

        for (const GList *name = names; name; name = name->next)
                if (!read_one(reading, g_hash_table_lookup(paths, name->data), &exists, error))
                        return false;
        return true;
}

static bool read_drop_ins(const Reading *reading, const ConfFiles *files, const char *root, GError **error) {
        static const char *const suffixes[] = { ".conf.d", ".rootful.conf.d" };
        g_autoptr(GHashTable) paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                for (size_t j = 0; j < G_N_ELEMENTS(suffixes); j++) {
                        g_autofree char *directory = g_strconcat(root, directories[i], "/", files->name, suffixes[j],
                                                                 NULL);

                        if (!collect_drop_ins(directory, paths, error))
                                return false;
                }
        return read_sorted(reading, paths, error);
}

bool conf_files_read(const ConfFiles *files, const char *root, ConfFileHandler handler, void *data, GError **error) {
        Reading reading = { .handler = handler, .data = data };
        g_autofree char *last = g_strconcat(files->environment, "_OVERRIDE", NULL);
        bool is_set;

        if (!read_from_environment(&reading, files->environment, &is_set, error))
                return false;
        if (!is_set &&
            (!read_main_file(&reading, files, root, error) || !read_drop_ins(&reading, files, root, error)))
                return false;
        return read_from_environment(&reading, last, &is_set, error);
}

bool conf_file_mentions(const char *text, size_t length, const char *word) {
        const char *end = text + length;

        for (const char *at = text; (at = memmem(at, (size_t) (end - at), word, strlen(word))); at++) {
                const char *line = at;

                while (line > text && line[-1] != '\n')
                        line--;
                line += strspn(line, " \t");
                if (*line != '#')
                        return true;
        }
        return false;
}
