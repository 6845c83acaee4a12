/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generator/files/dropins.h"
#include "generator/files/load.h"
#include "generator/files/names.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"

/* These belong to users' managers. The names are exact: "users-extra" is a directory like any other. */
static const char *const excluded[] = { "/etc/containers/systemd/users", "/usr/share/containers/systemd/users",
                                        NULL };

typedef struct Scan {
        const Tree *tree;
        Sources *sources;
        GHashTable *names;   /* of the files that count so far */
        GHashTable *visited; /* directories, as "device:inode" */
        Dropins *dropins;
        const char *lost; /* what is wrong with a directory whose files are not known; borrowed */
} Scan;

void source_file_free(void *data) {
        SourceFile *file = data;

        g_free(file->name);
        g_free(file->path);
        g_free(file->directory);
        unit_file_free(file->unit);
        g_clear_error(&file->error);
        g_free(file);
}

void sources_free(Sources *sources) {
        if (!sources)
                return;
        g_ptr_array_unref(sources->files);
        g_ptr_array_unref(sources->problems);
        g_free(sources);
}

/* False: nothing is said. */
static bool split_search_path(GPtrArray *path, const char *unit_dirs) {
        g_auto(GStrv) parts = NULL;

        if (!unit_dirs || !unit_dirs[0])
                return false;
        parts = g_strsplit(unit_dirs, ":", -1);
        for (char **part = parts; *part; part++)
                if ((*part)[0])
                        g_ptr_array_add(path, g_strdup(*part));
        return true;
}

GPtrArray *load_search_path(const char *unit_dirs) {
        GPtrArray *path = g_ptr_array_new_null_terminated(4, g_free, TRUE);

        if (split_search_path(path, unit_dirs))
                return path;
        g_ptr_array_add(path, g_strdup("/run/containers/systemd"));
        g_ptr_array_add(path, g_strdup("/etc/containers/systemd"));
        g_ptr_array_add(path, g_strdup("/usr/share/containers/systemd"));
        return path;
}

static void add_directory(GPtrArray *path, const char *above, const char *below) {
        if (above && above[0] == '/')
                g_ptr_array_add(path, g_build_filename(above, below, NULL));
}

GPtrArray *load_users_search_path(const char *unit_dirs) {
        static const char *const all[] = { "/etc/containers/systemd/users", "/usr/share/containers/systemd/users" };
        GPtrArray *path = g_ptr_array_new_null_terminated(4, g_free, TRUE);
        const char *config = getenv("XDG_CONFIG_HOME");
        g_autofree char *own = g_strdup_printf("%u", getuid());

        if (split_search_path(path, unit_dirs))
                return path;
        add_directory(path, getenv("XDG_RUNTIME_DIR"), "containers/systemd");
        if (config && config[0])
                add_directory(path, config, "containers/systemd");
        else
                add_directory(path, getenv("HOME"), ".config/containers/systemd");
        for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
                add_directory(path, all[i], own);
                g_ptr_array_add(path, g_strdup(all[i]));
        }
        return path;
}

/* Of the files of all users, those of one are below his number. */
static bool is_one_users(const char *path, const char *name) {
        return name[strspn(name, "0123456789")] == '\0' && g_str_has_suffix(path, "/containers/systemd/users");
}

static int is_no_dot(const struct dirent *entry) {
        return !g_str_equal(entry->d_name, ".") && !g_str_equal(entry->d_name, "..");
}

static int compare_entries(const struct dirent **a, const struct dirent **b) {
        return strcmp((*a)->d_name, (*b)->d_name);
}

/* Drop-ins are added when all of their directories are known. */
static void load_file(const Tree *tree, int directory_fd, const char *directory, mode_t readers,
                      const struct dirent *entry, SourceFile *file) {
        g_autofree char *text = NULL;
        size_t length = 0;

        if (!tree_read_at(tree, directory_fd, directory, entry->d_name, entry->d_type != DT_REG, &text, &length,
                          &readers, &file->error)) {
                g_prefix_error(&file->error, "%s: ", file->path);
                return;
        }
        file->is_masked = length == 0;
        if (file->is_masked)
                return;
        file->unit = unit_file_new();
        file->unit->readers = readers;
        (void) unit_file_parse(file->unit, file->path, text, length, NULL);
}

static void add_file(Scan *scan, int directory_fd, const char *directory, const char *resolved, mode_t readers,
                     const struct dirent *entry) {
        SourceFile *file;

        if (g_hash_table_contains(scan->names, entry->d_name))
                return;
        file = g_new0(SourceFile, 1);
        file->name = g_strdup(entry->d_name);
        file->path = g_strconcat(directory, "/", entry->d_name, NULL);
        file->directory = g_strdup(resolved);
        g_hash_table_add(scan->names, file->name);
        g_ptr_array_add(scan->sources->files, file);
        load_file(scan->tree, directory_fd, directory, readers, entry, file);
}

/* What a user may not read has never counted for her. */
static void add_problem(Scan *scan, const char *path) {
        bool is_lost = errno != EACCES || getuid() == 0;
        char *problem = g_strdup_printf("%s: cannot be read: %s", path, g_strerror(errno));

        g_ptr_array_add(scan->sources->problems, problem);
        if (is_lost)
                scan->lost = problem;
}

static bool is_new_directory(Scan *scan, int fd, const char *path, mode_t *readers) {
        struct stat st;

        if (fstat(fd, &st) < 0) {
                add_problem(scan, path);
                return false;
        }
        *readers &= readers_below(st.st_mode);
        return g_hash_table_add(scan->visited, g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                                               (guint64) st.st_dev, (guint64) st.st_ino));
}

static void scan_below(Scan *scan, const char *path, const char *resolved, mode_t readers,
                       const struct dirent *entry);

/* A search path may name a directory that is missing, or a file: both are skipped silently. `resolved` is the path
 * without links, or NULL where there may be some in it. */
static void scan_directory(Scan *scan, const char *path, const char *resolved, mode_t readers) {
        _cleanup_close_ int fd = tree_open_path(scan->tree, path, O_RDONLY | O_DIRECTORY);
        g_autofree char *directory = NULL;
        struct dirent **entries;
        int n;

        if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
                add_problem(scan, path);
        if (fd < 0 || !is_new_directory(scan, fd, path, &readers))
                return;
        directory = resolved ? g_strdup(resolved) : tree_find_directory(scan->tree, fd, path);
        n = scandirat(fd, ".", &entries, is_no_dot, compare_entries);
        if (n < 0)
                add_problem(scan, path);
        for (int i = 0; i < n; i++)
                if (entries[i]->d_type != DT_DIR && name_suffix(entries[i]->d_name))
                        add_file(scan, fd, path, directory, readers, entries[i]);
        close(fd_steal(&fd));
        for (int i = 0; i < n; i++) {
                if (entries[i]->d_type != DT_REG)
                        scan_below(scan, path, directory, readers, entries[i]);
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
}

/* What is no file, and perhaps a directory. */
static void scan_below(Scan *scan, const char *path, const char *resolved, mode_t readers,
                       const struct dirent *entry) {
        g_autofree char *child = g_strconcat(path, "/", entry->d_name, NULL);
        g_autofree char *below = entry->d_type == DT_DIR ? g_strconcat(resolved, "/", entry->d_name, NULL) : NULL;

        if (g_str_has_suffix(entry->d_name, ".d"))
                dropins_add_directory(scan->dropins, entry->d_name, child, readers);
        else if (!g_strv_contains(excluded, child) && !is_one_users(path, entry->d_name) &&
                 (entry->d_type == DT_DIR || !name_suffix(entry->d_name)))
                scan_directory(scan, child, below, readers);
}

/* A directory that is lost may have drop-ins of any file, and files that hide others or mask them. */
static bool complete_file(const Scan *scan, SourceFile *file) {
        if (scan->lost)
                return error_set(&file->error, KT_ERROR_FAILED, "%s: what changes or hides it is not known: %s",
                                 file->path, scan->lost);
        return dropins_apply(scan->dropins, file->name, file->unit, &file->error);
}

static void complete_files(const Scan *scan) {
        for (guint i = 0; i < scan->sources->files->len; i++) {
                SourceFile *file = scan->sources->files->pdata[i];

                if (file->unit && !complete_file(scan, file))
                        g_clear_pointer(&file->unit, unit_file_free);
        }
}

static int compare_files(gconstpointer a, gconstpointer b) {
        const SourceFile *const *left = a, *const *right = b;

        return strcmp((*left)->name, (*right)->name);
}

void sources_sort(Sources *sources) {
        g_ptr_array_sort(sources->files, compare_files);
}

Sources *load_sources(const Tree *tree, const GPtrArray *search_path) {
        g_autoptr(Dropins) dropins = dropins_new(tree);
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) visited = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Sources *sources = g_new0(Sources, 1);
        Scan scan = { tree, sources, names, visited, dropins, /* lost= */ NULL };

        sources->files = g_ptr_array_new_with_free_func(source_file_free);
        sources->problems = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; i < search_path->len; i++) {
                const char *path = search_path->pdata[i];

                if (path[0] == '/')
                        scan_directory(&scan, path, /* resolved= */ NULL, READERS_ALL);
                else
                        g_ptr_array_add(sources->problems,
                                        g_strdup_printf("QUADLET_UNIT_DIRS: '%s' is no absolute path", path));
        }
        complete_files(&scan);
        sources_sort(sources);
        return sources;
}
