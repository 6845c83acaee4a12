/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/resolve.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/container/container-units.h"
#include "libstart/ctl/install/application.h"
#include "libstart/value/names.h"

bool application_check_name(const char *name, GError **error) {
        return (name_is_made_of(name, "_.@-") && g_ascii_isalnum(name[0])) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no name of an application: letters, digits and '_.@-'",
                         name);
}

/* One that leads elsewhere was not written by us. */
static bool is_below(const char *path) {
        g_autofree char *clean = g_canonicalize_filename(path, "/"), *again = g_strconcat("/", path, NULL);

        return g_str_equal(clean, again);
}

GPtrArray *application_list(const char *path, GError **error) {
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *list = g_build_filename(path, APPLICATION_LIST, NULL), *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!file_read(list, &text, NULL, error))
                return NULL;
        lines = g_strsplit(text ?: "", "\n", -1);
        for (char **line = lines; *line; line++) {
                if (**line && !is_below(*line))
                        return error_null(error, KT_ERROR_FAILED, "'%s': '%s' is no file in there", list, *line);
                if (**line)
                        g_ptr_array_add(files, g_strdup(*line));
        }
        return g_steal_pointer(&files);
}

bool application_write_list(const char *path, const GPtrArray *files, GError **error) {
        g_autofree char *list = g_build_filename(path, APPLICATION_LIST, NULL);
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < files->len; i++)
                g_string_append_printf(text, "%s\n", (const char *) files->pdata[i]);
        return g_file_set_contents_full(list, text->str, -1, G_FILE_SET_CONTENTS_DURABLE, 0644, error);
}

char **application_find_units(const char *path, bool running_only) {
        g_autoptr(GPtrArray) all = container_units_find(NULL, NULL);
        g_autoptr(GStrvBuilder) units = g_strv_builder_new();
        g_autofree char *prefix = g_strconcat(path, "/", NULL);

        for (guint i = 0; all && i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];
                bool is_down = g_strcmp0(container->active, "inactive") == 0 ||
                               g_strcmp0(container->active, "failed") == 0;

                if (g_str_has_prefix(container->source, prefix) && !(running_only && is_down))
                        g_strv_builder_add(units, container->unit);
        }
        return g_strv_builder_end(units);
}

/* unlinkat(2) of a path below a directory, none of which is a link: that leads to somebody else's file. */
static int remove_below(int directory, const char *path, int flags) {
        g_autofree char *above = g_path_get_dirname(path), *name = g_path_get_basename(path);
        _cleanup_close_ int parent = resolve_open(directory, above, O_PATH | O_DIRECTORY, 0,
                                                  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

        return parent < 0 ? -1 : unlinkat(parent, name, flags);
}

/* The directories above a file, up to the application's own, as long as they are empty. */
static void remove_empty_above(int directory, const char *file) {
        g_autofree char *above = g_strdup(file);
        char *slash;

        while ((slash = strrchr(above, '/'))) {
                *slash = '\0';
                if (remove_below(directory, above, AT_REMOVEDIR) < 0)
                        return;
        }
}

bool application_remove(const char *path, const GPtrArray *files, GError **error) {
        _cleanup_close_ int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

        if (directory < 0)
                return error_set_errno(error, errno, "Cannot open '%s'", path);
        for (guint i = 0; i < files->len; i++) {
                if (remove_below(directory, files->pdata[i], 0) < 0 && errno != ENOENT)
                        return error_set_errno(error, errno, "Cannot remove '%s' in '%s'",
                                               (const char *) files->pdata[i], path);
                remove_empty_above(directory, files->pdata[i]);
        }
        return true;
}

bool application_forget(const char *path) {
        g_autofree char *list = g_build_filename(path, APPLICATION_LIST, NULL);

        (void) unlink(list);
        return rmdir(path) == 0 || errno == ENOENT;
}

bool application_systemctl(const char *verb, char **units, GError **error) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_autofree char *what = g_strdup_printf("systemctl %s", verb);
        g_auto(GStrv) words = NULL;

        g_strv_builder_add_many(builder, "/usr/bin/systemctl", verb, NULL);
        if (units)
                g_strv_builder_addv(builder, (const char **) units);
        words = g_strv_builder_end(builder);
        return host_program_run((const char *const *) words, what, error);
}
