/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/cdi/cdi-search.h"
#include "libstart/config/small-file.h"

#define N_DIRECTORIES 2
const char *const cdi_search_directories[N_DIRECTORIES + 1] = { "/run/cdi", "/etc/cdi", NULL };

struct CdiSearch {
        CdiConvert *convert;
        GPtrArray *files[N_DIRECTORIES]; /* of CdiFile; NULL: not read yet */
        GError *problem;                 /* of the first file that cannot be read */
};

CdiSearch *cdi_search_new(CdiConvert *convert) {
        CdiSearch *search = g_new0(CdiSearch, 1);

        search->convert = convert;
        return search;
}

void cdi_search_free(CdiSearch *search) {
        for (size_t i = 0; i < N_DIRECTORIES; i++)
                g_clear_pointer(&search->files[i], g_ptr_array_unref);
        g_clear_error(&search->problem);
        g_free(search);
}

char *cdi_search_copy_of(const char *path) {
        return g_strconcat(PATH_CDI, path, ".json", NULL);
}

static bool read_copy(const CdiSearch *search, const char *path, char **ret, GError **error) {
        g_autofree char *copy = cdi_search_copy_of(path);
        FileIdentity of_file, of_copy;

        if (file_identify(path, &of_file) && file_identify(copy, &of_copy) && of_copy.mtime == of_file.ctime &&
            !file_read(copy, ret, NULL, error))
                return false;
        if (!*ret)
                *ret = search->convert(path, error);
        return *ret;
}

static bool read_file(const CdiSearch *search, GPtrArray *files, const char *path, GError **error) {
        g_autofree char *text = NULL;
        CdiFile *file;

        if (g_str_has_suffix(path, ".yaml") ? !read_copy(search, path, &text, error) :
                                              !file_read(path, &text, NULL, error))
                return false;
        if (!text)
                return true; /* gone meanwhile */
        file = cdi_file_parse(text, strlen(text), error);
        if (!file)
                return error_prefix(error, "'%s': ", path);
        g_ptr_array_add(files, file);
        return true;
}

/* Another vendor's, perhaps: whoever needs none of its devices starts without it, as with Podman. */
static void leave_out(CdiSearch *search, GError *problem) {
        log_warning("%s, ignoring the file", problem->message);
        if (search->problem)
                g_error_free(problem);
        else
                search->problem = problem;
}

static bool read_directory(CdiSearch *search, size_t i, GError **error) {
        const char *directory = cdi_search_directories[i];
        g_auto(GStrv) names = directory_list(directory, error);

        search->files[i] = g_ptr_array_new_with_free_func((GDestroyNotify) cdi_file_free);
        for (char **name = names; name && *name; name++) {
                g_autofree char *path = g_build_filename(directory, *name, NULL);
                GError *problem = NULL;

                if ((g_str_has_suffix(*name, ".json") || g_str_has_suffix(*name, ".yaml")) &&
                    !read_file(search, search->files[i], path, &problem))
                        leave_out(search, problem);
        }
        return names;
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

        for (size_t i = 0; i < N_DIRECTORIES; i++) {
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
        return search->problem ?
                       error_set(error, KT_ERROR_NOT_FOUND,
                                 "No file of /etc/cdi or /run/cdi that can be read has the device '%s': %s", name,
                                 search->problem->message) :
                       error_set(error, KT_ERROR_NOT_FOUND,
                                 "No file *.json or *.yaml of /etc/cdi or /run/cdi has the device '%s'", name);
}
