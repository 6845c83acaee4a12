/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "generator/files/dropins.h"
#include "generator/files/names.h"
#include "libstart/base/error.h"

typedef struct Dropin {
        char *name, *path;
        char *text;
        size_t length; /* 0: masks the files of its name in later directories */
        mode_t readers;
        GError *error;
} Dropin;

typedef struct Directory {
        char *path;
        mode_t readers;
        GPtrArray *dropins; /* of Dropin; NULL: not read yet */
} Directory;

struct Dropins {
        const Tree *tree;
        GHashTable *directories; /* name -> GPtrArray of Directory, in the order of the search path */
};

static void dropin_free(void *data) {
        Dropin *dropin = data;

        g_free(dropin->name);
        g_free(dropin->path);
        g_free(dropin->text);
        g_clear_error(&dropin->error);
        g_free(dropin);
}

static void directory_free(void *data) {
        Directory *directory = data;

        g_free(directory->path);
        g_clear_pointer(&directory->dropins, g_ptr_array_unref);
        g_free(directory);
}

Dropins *dropins_new(const Tree *tree) {
        Dropins *dropins = g_new0(Dropins, 1);

        dropins->tree = tree;
        dropins->directories = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                     (GDestroyNotify) g_ptr_array_unref);
        return dropins;
}

void dropins_free(Dropins *dropins) {
        g_hash_table_unref(dropins->directories);
        g_free(dropins);
}

void dropins_add_directory(Dropins *dropins, const char *name, const char *path, mode_t readers) {
        GPtrArray *list = g_hash_table_lookup(dropins->directories, name);
        Directory *directory = g_new0(Directory, 1);

        if (!list) {
                list = g_ptr_array_new_with_free_func(directory_free);
                g_hash_table_insert(dropins->directories, g_strdup(name), list);
        }
        directory->path = g_strdup(path);
        directory->readers = readers;
        g_ptr_array_add(list, directory);
}

static Dropin *read_dropin(const Tree *tree, int directory_fd, const Directory *directory, const char *name,
                           bool is_link) {
        Dropin *dropin = g_new0(Dropin, 1);

        dropin->name = g_strdup(name);
        dropin->path = g_build_filename(directory->path, name, NULL);
        dropin->readers = directory->readers;
        (void) tree_read_at(tree, directory_fd, directory->path, name, is_link, &dropin->text, &dropin->length,
                            &dropin->readers, &dropin->error);
        g_prefix_error(&dropin->error, "%s: ", dropin->path);
        return dropin;
}

static bool read_directory(const Tree *tree, Directory *directory, GError **error) {
        g_autoptr(GPtrArray) dropins = g_ptr_array_new_with_free_func(dropin_free);
        int fd = tree_open_path(tree, directory->path, O_RDONLY | O_DIRECTORY);
        struct dirent *entry;
        struct stat st;
        DIR *stream;

        if (fd < 0)
                return error_set_errno(error, errno, "%s: cannot be read", directory->path);
        if (fstat(fd, &st) < 0 || !(stream = fdopendir(fd))) {
                error_set_errno(error, errno, "%s: cannot be read", directory->path);
                close(fd);
                return false;
        }
        directory->readers &= readers_below(st.st_mode);
        while ((errno = 0, entry = readdir(stream)))
                if (g_str_has_suffix(entry->d_name, ".conf"))
                        g_ptr_array_add(dropins,
                                        read_dropin(tree, fd, directory, entry->d_name, entry->d_type != DT_REG));
        if (errno)
                error_set_errno(error, errno, "%s: cannot be read", directory->path);
        else
                directory->dropins = g_steal_pointer(&dropins);
        closedir(stream);
        return directory->dropins;
}

static int compare_names(gconstpointer a, gconstpointer b) {
        return strcmp(((const Dropin *) a)->name, ((const Dropin *) b)->name);
}

/* The first of each name counts; `found` maps it to its Dropin. */
static bool collect(Dropins *dropins, const char *directory_name, GHashTable *found, GError **error) {
        GPtrArray *list = g_hash_table_lookup(dropins->directories, directory_name);

        for (guint i = 0; list && i < list->len; i++) {
                Directory *directory = list->pdata[i];

                if (!directory->dropins && !read_directory(dropins->tree, directory, error))
                        return false;
                for (guint j = 0; j < directory->dropins->len; j++) {
                        Dropin *dropin = directory->dropins->pdata[j];

                        if (!g_hash_table_contains(found, dropin->name))
                                g_hash_table_insert(found, dropin->name, dropin);
                }
        }
        return true;
}

static bool parse_in_order(GHashTable *found, UnitFile *file, GError **error) {
        g_autoptr(GList) order = g_list_sort(g_hash_table_get_values(found), compare_names);

        for (GList *item = order; item; item = item->next) {
                const Dropin *next = item->data;

                if (next->error) {
                        g_propagate_error(error, g_error_copy(next->error));
                        return false;
                }
                if (next->length == 0)
                        continue;
                (void) unit_file_parse(file, next->path, next->text, next->length, NULL);
                g_ptr_array_add(file->dropins, (void *) unit_file_keep(file, next->path));
                file->readers &= next->readers;
        }
        return true;
}

bool dropins_apply(Dropins *dropins, const char *file_name, UnitFile *file, GError **error) {
        g_autoptr(GPtrArray) names = NULL;
        g_autoptr(GHashTable) found = NULL;

        if (g_hash_table_size(dropins->directories) == 0)
                return true;
        names = name_dropin_dirs(file_name);
        found = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < names->len; i++)
                if (!collect(dropins, names->pdata[i], found, error))
                        return false;
        return parse_in_order(found, file, error);
}

bool dropins_apply_directory(Dropins *dropins, const char *directory_name, UnitFile *file, GError **error) {
        g_autoptr(GHashTable) found = g_hash_table_new(g_str_hash, g_str_equal);

        return collect(dropins, directory_name, found, error) && parse_in_order(found, file, error);
}
