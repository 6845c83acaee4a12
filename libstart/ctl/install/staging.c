/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/install/application.h"
#include "libstart/ctl/install/quadlets-file.h"
#include "libstart/ctl/install/staging.h"
#include "libstart/value/unit-words.h"

#define PARENT "/etc/containers"
#define PREFIX ".keyturn-install-"
#define FETCHED ".keyturn-fetched" /* what a URL has, below the directory until it is copied into that */

static int remove_entry(const char *path, G_GNUC_UNUSED const struct stat *st, G_GNUC_UNUSED int type,
                        G_GNUC_UNUSED struct FTW *place) {
        return remove(path);
}

static void remove_tree(const char *path) {
        (void) nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static int open_directory(const char *path) {
        return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Of who was killed: others have the lock of theirs. It may be the old application, whose place the new one has. */
static void remove_left_over(void) {
        g_auto(GStrv) names = directory_list(PARENT, NULL);

        for (char **name = names; name && *name; name++) {
                g_autofree char *path = g_build_filename(PARENT, *name, NULL);
                _cleanup_close_ int lock = g_str_has_prefix(*name, PREFIX) ? open_directory(path) : -1;

                if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
                        remove_tree(path);
        }
}

/* Whoever may open it may lock it, so it is root's alone until it is in its place. */
static bool make_directory(Staging *staging) {
        staging->path = g_strdup(PARENT "/" PREFIX "XXXXXX");
        if (!g_mkdtemp_full(staging->path, 0700)) {
                g_clear_pointer(&staging->path, g_free);
                return false;
        }
        staging->lock = open_directory(staging->path);
        return staging->lock >= 0 && flock(staging->lock, LOCK_EX) == 0 &&
               access(staging->path, F_OK) == 0; /* another has not taken it for left over before that */
}

bool staging_init(Staging *staging, GError **error) {
        staging->files = g_ptr_array_new_with_free_func(g_free);
        staging->left = g_ptr_array_new_with_free_func(g_free);
        remove_left_over();
        return (g_mkdir_with_parents(APPLICATIONS, 0755) == 0 && make_directory(staging)) ||
               error_set_errno(error, errno, "Cannot make a directory in " PARENT);
}

void staging_clear(Staging *staging) {
        if (staging->path)
                remove_tree(staging->path);
        g_free(staging->path);
        fd_close(&staging->lock);
        if (staging->files)
                g_ptr_array_unref(staging->files);
        if (staging->left)
                g_ptr_array_unref(staging->left);
}

static bool has_file(const Staging *staging, const char *file) {
        return g_ptr_array_find_with_equal_func(staging->files, file, g_str_equal, NULL);
}

const char *staging_find_left(const Staging *staging) {
        for (guint i = 0; i < staging->left->len; i++)
                if (!has_file(staging, staging->left->pdata[i]))
                        return staging->left->pdata[i];
        return NULL;
}

static bool write_file(Staging *staging, const char *file, const char *text, size_t length, int mode,
                       GError **error) {
        g_autofree char *target = g_build_filename(staging->path, file, NULL);
        g_autofree char *directory = g_path_get_dirname(target);

        if (strchr(file, '\n'))
                return error_set(error, KT_ERROR_USAGE, "A file's name has a line break");
        if (g_mkdir_with_parents(directory, 0755) < 0)
                return error_set_errno(error, errno, "Cannot make '%s'", directory);
        g_ptr_array_add(staging->files, g_strdup(file));
        return g_file_set_contents_full(target, text, (gssize) length, G_FILE_SET_CONTENTS_DURABLE, mode, error);
}

/* Nobody but its owner writes what services are made of. */
static bool copy_file(Staging *staging, const char *source, const char *file, GError **error) {
        g_autofree char *text = NULL;
        size_t length = 0;
        GStatBuf st;

        if (has_file(staging, file))
                return true;
        if (g_stat(source, &st) < 0)
                return error_set_errno(error, errno, "Cannot read '%s'", source);
        return file_read(source, &text, &length, error) &&
               write_file(staging, file, text ?: "", length, (int) (st.st_mode & 0755), error);
}

static bool add_directory(Staging *staging, const char *directory, const char *below, const GPtrArray *listed,
                          GError **error);

/* listed: paths that are left out, or NULL. */
static bool add_entry(Staging *staging, const char *path, const char *file, const GPtrArray *listed, GError **error) {
        GStatBuf st;

        if (g_lstat(path, &st) < 0)
                return error_set_errno(error, errno, "Cannot read '%s'", path);
        if (S_ISDIR(st.st_mode))
                return add_directory(staging, path, file, listed, error);
        if (listed && g_ptr_array_find_with_equal_func((GPtrArray *) listed, file, g_str_equal, NULL))
                return true;
        if (S_ISREG(st.st_mode))
                return copy_file(staging, path, file, error);
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' is neither a file nor a directory: remove it, or put a "
                         "copy in its place",
                         path);
}

static bool add_directory(Staging *staging, const char *directory, const char *below, const GPtrArray *listed,
                          GError **error) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, error);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL),
                                *file = g_build_filename(below, name, NULL);

                if (!g_str_equal(name, ".git") && !g_str_equal(name, APPLICATION_LIST) &&
                    !add_entry(staging, path, file, listed, error))
                        return false;
        }
        return dir;
}

bool staging_add_others(Staging *staging, const char *directory, const GPtrArray *listed, GError **error) {
        return add_directory(staging, directory, "", listed, error);
}

static bool add_quadlet(Staging *staging, const char *path, const char *name, GError **error);

/* "./html/index.html", "web.env" -> what is to be copied, below the file's directory; NULL: it is elsewhere. */
static char *find_beside(const char *directory, const char *word, bool is_file_key) {
        bool is_relative = g_str_has_prefix(word, "./");
        const char *name = word + (is_relative ? strlen("./") : 0);
        g_autofree char *rooted = g_strconcat("/", name, NULL), *clean = g_canonicalize_filename(rooted, "/"),
                        *path = g_build_filename(directory, clean, NULL);

        if (word[0] == '/' || !name[0] || strstr(word, "..") || unit_word_is_unexpanded(word) ||
            (!is_relative && !is_file_key && !quadlet_is_file_name(name)))
                return NULL;
        return g_file_test(path, G_FILE_TEST_EXISTS) ? g_strdup(clean + 1) : NULL;
}

/* "data@one.volume" is an instance of "data@.volume", which is the file. Transfer full; NULL: it is none. */
static char *find_template(const char *directory, const char *word) {
        const char *at = strchr(word, '@'), *dot = strrchr(word, '.');
        g_autofree char *name = at && dot > at ? g_strdup_printf("%.*s%s", (int) (at + 1 - word), word, dot) : NULL;

        return name && quadlet_is_file_name(name) ? find_beside(directory, name, false) : NULL;
}

static void note_left(Staging *staging, const char *directory, const char *word) {
        char *name = find_beside(directory, word, true);

        if (name)
                g_ptr_array_add(staging->left, name);
}

static bool add_named(Staging *staging, const char *directory, const char *word, bool is_file_key, GError **error) {
        g_autofree char *name = find_beside(directory, word, is_file_key) ?: find_template(directory, word);
        g_autofree char *path = name ? g_build_filename(directory, name, NULL) : NULL;

        if (!name || has_file(staging, name))
                return true;
        if (quadlet_is_file_name(name))
                return add_quadlet(staging, path, name, error);
        return add_entry(staging, path, name, NULL, error);
}

static bool add_all_named(Staging *staging, const char *path, GError **error) {
        g_autofree char *text = NULL, *directory = g_path_get_dirname(path);
        g_auto(GStrv) lines = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        lines = g_strsplit(text ?: "", "\n", -1);
        for (char **line = lines; *line; line++) {
                g_auto(GStrv) words = g_strsplit_set(g_strchug(*line), " \t\r=,:\"'", -1);
                bool is_kube = g_strcmp0(words[0], "Yaml") == 0 || g_strcmp0(words[0], "ConfigMap") == 0;

                for (char **word = words; !strchr("#;", (*line)[0]) && *word; word++) {
                        if (!add_named(staging, directory, *word, g_str_has_suffix(words[0], "File"), error))
                                return false;
                        if (is_kube)
                                note_left(staging, directory, *word);
                }
        }
        return true;
}

static bool add_quadlet(Staging *staging, const char *path, const char *name, GError **error) {
        g_autofree char *dropins = g_strconcat(path, ".d", NULL), *dropins_name = g_strconcat(name, ".d", NULL);

        return copy_file(staging, path, name, error) &&
               (!g_file_test(dropins, G_FILE_TEST_IS_DIR) ||
                add_directory(staging, dropins, dropins_name, NULL, error)) &&
               add_all_named(staging, path, error);
}

static bool add_quadlets(Staging *staging, const char *path, GError **error) {
        g_autofree char *text = NULL;
        g_autoptr(GPtrArray) files = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        files = quadlets_file_split(text ?: "", error);
        if (!files)
                return error_prefix(error, "'%s': ", path);
        for (guint i = 0; i < files->len; i++) {
                const QuadletFile *file = files->pdata[i];

                if (!write_file(staging, file->name, file->text, strlen(file->text), 0644, error))
                        return false;
        }
        return true;
}

/* By a program: who speaks TLS has certificates, proxies and a user's settings to care for. */
static bool fetch(const char *url, const char *path, GError **error) {
        g_autofree char *curl = g_find_program_in_path("curl");
        const char *const words[] = { curl,       "--fail",      "--silent",   "--show-error", "--location",
                                      "--proto",  "=http,https", "--max-time", "120",          "--max-filesize",
                                      "16777216", "--output",    path,         "--",           url,
                                      NULL };

        if (!curl)
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "'%s': curl fetches it, which is not there: install the package curl", url);
        return host_program_run(words, url, error);
}

static bool add_url(Staging *staging, const char *url, GError **error) {
        g_auto(GStrv) parts = g_strsplit_set(url, "?#", 2);
        g_autofree char *name = g_path_get_basename(parts[0]),
                        *directory = g_build_filename(staging->path, FETCHED, NULL),
                        *path = g_build_filename(directory, name, NULL);
        bool ok;

        if (g_mkdir(directory, 0700) < 0)
                return error_set_errno(error, errno, "Cannot make '%s'", directory);
        ok = fetch(url, path, error) && staging_add(staging, path, error);
        (void) g_unlink(path);
        (void) g_rmdir(directory);
        return ok;
}

bool staging_add(Staging *staging, const char *source, GError **error) {
        g_autofree char *name = g_path_get_basename(source);

        if (g_str_has_prefix(source, "http://") || g_str_has_prefix(source, "https://"))
                return add_url(staging, source, error);
        if (g_file_test(source, G_FILE_TEST_IS_DIR))
                return add_directory(staging, source, "", NULL, error);
        if (!g_file_test(source, G_FILE_TEST_IS_REGULAR))
                return error_set(error, KT_ERROR_NOT_FOUND, "There is no file '%s'", source);
        if (g_str_has_suffix(name, ".quadlets"))
                return add_quadlets(staging, source, error);
        return quadlet_is_file_name(name) ? add_quadlet(staging, source, name, error) :
                                            copy_file(staging, source, name, error);
}
