/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/cdi/cdi-search.h"
#include "libstart/config/small-file.h"

/* From the stronger to the weaker. */
static const char *const directories[] = { "/run/cdi", "/etc/cdi" };

struct CdiSearch {
        char *root;
        GPtrArray *files[G_N_ELEMENTS(directories)]; /* of CdiFile; NULL: not read yet */
        char *yaml;                                  /* a file that is not read, or NULL */
};

CdiSearch *cdi_search_new(const char *root) {
        CdiSearch *search = g_new0(CdiSearch, 1);

        search->root = g_strdup(root);
        return search;
}

void cdi_search_free(CdiSearch *search) {
        if (!search)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                g_clear_pointer(&search->files[i], g_ptr_array_unref);
        g_free(search->root);
        g_free(search->yaml);
        g_free(search);
}

static bool read_file(GPtrArray *files, const char *path, GError **error) {
        g_autofree char *text = NULL;
        size_t length;
        CdiFile *file;

        if (!file_read(path, &text, &length, error))
                return false;
        if (!text)
                return true; /* gone meanwhile */
        file = cdi_file_parse(text, length, error);
        if (!file) {
                g_prefix_error(error, "'%s': ", path);
                return false;
        }
        g_ptr_array_add(files, file);
        return true;
}

static bool take_name(CdiSearch *search, GPtrArray *files, const char *directory, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);

        if (g_str_has_suffix(name, ".yaml") && !search->yaml)
                search->yaml = g_strdup(path);
        return !g_str_has_suffix(name, ".json") || read_file(files, path, error);
}

static bool read_directory(CdiSearch *search, size_t i, GError **error) {
        g_autofree char *path = g_strconcat(search->root, directories[i], NULL);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        search->files[i] = g_ptr_array_new_with_free_func((GDestroyNotify) cdi_file_free);
        while (dir && (name = g_dir_read_name(dir)))
                if (!take_name(search, search->files[i], path, name, error))
                        return false;
        return true;
}

static bool refuse_missing(const CdiSearch *search, const char *name, GError **error) {
        if (search->yaml)
                return error_set(
                        error, KT_ERROR_NOT_FOUND,
                        "No file *.json of /etc/cdi or /run/cdi has the device '%s'. '%s' is YAML, which keyturn "
                        "does not read: write it as JSON, as with nvidia-ctk cdi generate --format=json",
                        name, search->yaml);
        return error_set(error, KT_ERROR_NOT_FOUND, "No file *.json of /etc/cdi or /run/cdi has the device '%s'",
                         name);
}

static void add_edits(GPtrArray *edits, const CdiEdits *more) {
        if (!g_ptr_array_find(edits, more, NULL))
                g_ptr_array_add(edits, (void *) more);
}

/* Two files of one directory that have the same device are a mistake, as for Podman: which one counts? */
static bool find_in(const GPtrArray *files, const char *kind, const char *device, const CdiFile **ret,
                    const char *name, GError **error) {
        *ret = NULL;
        for (guint i = 0; i < files->len; i++) {
                const CdiFile *file = files->pdata[i];

                if (!g_str_equal(file->kind, kind) || !cdi_file_find(file, device))
                        continue;
                if (*ret)
                        return error_set(error, KT_ERROR_FAILED,
                                         "Two files of the same directory have the CDI device '%s': remove one",
                                         name);
                *ret = file;
        }
        return true;
}

bool cdi_search_find(CdiSearch *search, const char *name, GPtrArray *edits, GError **error) {
        const char *equals = strchr(name, '=');
        g_autofree char *kind = g_strndup(name, (size_t) (equals - name));

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                const CdiFile *file;

                if ((!search->files[i] && !read_directory(search, i, error)) ||
                    !find_in(search->files[i], kind, equals + 1, &file, name, error))
                        return false;
                if (!file)
                        continue;
                add_edits(edits, file->edits);
                add_edits(edits, cdi_file_find(file, equals + 1));
                return true;
        }
        return refuse_missing(search, name, error);
}
