/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/ctl/install/application.h"
#include "libstart/ctl/install/commands.h"
#include "libstart/ctl/install/quadlets-file.h"
#include "libstart/ctl/install/staging.h"
#include "libstart/table/table.h"

#define VERIFY KEYTURN_LIBDIR "/keyturn-verify"

/* "/home/me/shop/", "web.container", "https://example.org/web.quadlets?x" -> "shop", "web", "web". */
static char *find_name(const char *source) {
        g_auto(GStrv) parts = g_strsplit_set(source, "?#", 2);
        g_autofree char *absolute = strstr(source, "://") ? g_strdup(parts[0]) :
                                                            g_canonicalize_filename(source, NULL);
        char *name = g_path_get_basename(absolute), *dot = strrchr(name, '.');

        if (dot && (quadlet_is_file_name(name) || g_str_has_suffix(name, ".quadlets")))
                *dot = '\0';
        return name;
}

/* Another file of that name, which would hide this one or be hidden by it. Transfer full; NULL: there is none. */
static char *find_other(const char *directory, const char *name, const char *own) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *entry;
        char *found = NULL;

        while (dir && !found && (entry = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, entry, NULL);

                if (g_str_equal(path, own))
                        continue;
                if (g_str_equal(entry, name))
                        found = g_steal_pointer(&path);
                else if (g_file_test(path, G_FILE_TEST_IS_DIR))
                        found = find_other(path, name, own);
        }
        return found;
}

static bool check_names(const Staging *staging, const char *own, GError **error) {
        bool has_quadlet = false;

        for (guint i = 0; i < staging->files->len; i++) {
                g_autofree char *name = g_path_get_basename(staging->files->pdata[i]), *other = NULL;

                if (!quadlet_is_file_name(name))
                        continue;
                has_quadlet = true;
                other = find_other(APPLICATIONS, name, own);
                if (other)
                        return error_set(error, KT_ERROR_FAILED, "There is '%s' already: remove or rename one",
                                         other);
        }
        return has_quadlet || error_set(error, KT_ERROR_USAGE, "There is no file of Quadlet's, as NAME.container");
}

/* The files, and where else the ones that they name may be. */
static char **make_verify_words(const Staging *staging) {
        static const char *const others[] = { "/run/containers/systemd", APPLICATIONS,
                                              "/usr/share/containers/systemd" };
        g_autoptr(GStrvBuilder) words = g_strv_builder_new();

        g_strv_builder_add_many(words, VERIFY, "--files-only", "--", NULL);
        for (guint i = 0; i < staging->files->len; i++) {
                g_autofree char *path = g_build_filename(staging->path, staging->files->pdata[i], NULL);

                if (quadlet_is_file_name(path))
                        g_strv_builder_add(words, path);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (g_file_test(others[i], G_FILE_TEST_IS_DIR))
                        g_strv_builder_add(words, others[i]);
        return g_strv_builder_end(words);
}

static bool refuse(const Staging *staging, GError **error) {
        const char *left = staging_find_left(staging);

        return left ? error_set(error, KT_ERROR_FAILED,
                                "Nothing was installed: the files have errors ('%s', which is named in one, was not "
                                "taken along: write './%s' there, or name it here, too)",
                                left, left) :
                      error_set(error, KT_ERROR_FAILED, "Nothing was installed: the files have errors");
}

/* What it finds is printed to `stream`, with the files' names as they are known to the caller. */
static bool verify(const Staging *staging, FILE *stream, GError **error) {
        g_auto(GStrv) words = make_verify_words(staging);
        g_autofree char *output = NULL, *prefix = g_strconcat(staging->path, "/", NULL);
        g_autoptr(GString) text = NULL;
        int status;

        if (!g_spawn_sync(NULL, words, NULL, 0, NULL, NULL, &output, NULL, &status, error))
                return false;
        text = g_string_new(output);
        g_string_replace(text, prefix, "", 0);
        fputs(text->str, stream);
        fflush(stream);
        return g_spawn_check_wait_status(status, NULL) || refuse(staging, error);
}

/* What others have put beside the files of an application stays with the new ones. */
static bool take_over(Staging *staging, const char *path, GError **error) {
        g_autoptr(GPtrArray) listed = application_list(path, error);

        return listed && staging_add_others(staging, path, listed, error);
}

/* One rename: whoever reads the directory at any time finds the old files or the new ones. */
static bool place(Staging *staging, const char *path, bool is_replaced, GError **error) {
        if (!application_write_list(staging->path, staging->files, error) ||
            (is_replaced && !take_over(staging, path, error)))
                return false;
        if (fchmod(staging->lock, 0755) < 0 ||
            renameat2(AT_FDCWD, staging->path, AT_FDCWD, path, is_replaced ? RENAME_EXCHANGE : RENAME_NOREPLACE) < 0)
                return error_set_errno(error, errno, "Cannot put '%s' in its place", path);
        if (!is_replaced)
                g_clear_pointer(&staging->path, g_free);
        return true;
}

static void print_units(char **units) {
        g_autofree char *words = g_strjoinv(" ", units);

        if (words[0])
                printf("Start (what runs goes on as it was until it is restarted): systemctl restart %s\n", words);
        else
                puts("systemd has no container of it yet: a template is started by an instance's name.");
}

/* files, units: taken over. */
static void print_json(const char *name, const char *path, char *files, char *units) {
        static const char *const columns[] = { "APPLICATION", "DIRECTORY", "@FILES", "@UNITS", NULL };
        g_autoptr(Table) table = table_new(columns);

        table_add(table, g_strdup(name), g_strdup(path), files, units);
        table_print(table, true);
}

/* files: of the staging, in which those that others have put there are behind the n_files. */
static void print_installed(const char *name, const char *path, const GPtrArray *files, guint n_files, bool json) {
        g_auto(GStrv) units = application_find_units(path, false);

        if (json) {
                print_json(name, path, table_join((char **) files->pdata, n_files),
                           table_join(units, g_strv_length(units)));
                return;
        }
        printable_print("Installed in %s: %u file%s.\n", path, n_files, n_files == 1 ? "" : "s");
        print_units(units);
}

static bool install(char **sources, const Options *options, GError **error) {
        g_autofree char *name = find_name(sources[0]), *path = g_build_filename(APPLICATIONS, name, NULL);
        g_auto(Staging) staging = { .lock = -1 };
        bool is_there;
        guint n_files;

        if (!application_check_name(name, error))
                return false;
        (void) rmdir(path); /* an uninstall that was killed has left nothing else */
        is_there = g_file_test(path, G_FILE_TEST_EXISTS);
        if (is_there && !options->replace)
                return error_set(error, KT_ERROR_FAILED,
                                 "'%s' is there already: --replace installs these in its place", path);
        if (!staging_init(&staging, error))
                return false;
        for (char **source = sources; *source; source++)
                if (!staging_add(&staging, *source, error))
                        return false;
        n_files = staging.files->len;
        if (!check_names(&staging, path, error) || !verify(&staging, options->json ? stderr : stdout, error) ||
            !place(&staging, path, is_there, error))
                return false;
        if (!application_systemctl("daemon-reload", NULL, error))
                return error_prefix(error,
                                    "The files are in '%s'; what is missing is 'systemctl daemon-reload': ", path);
        print_installed(name, path, staging.files, n_files, options->json);
        return true;
}

int command_install(G_GNUC_UNUSED const GPtrArray *all, const Options *options, char **words, GError **error) {
        if (words[0])
                return install(words, options, error) ? 0 : -1;
        return error_negative(error, KT_ERROR_USAGE, "'install' takes files, a directory or URLs");
}
