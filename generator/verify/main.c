/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/files/names.h"
#include "generator/verify/generation.h"
#include "generator/verify/migration.h"
#include "generator/verify/neighbours.h"
#include "generator/verify/outlook.h"
#include "generator/verify/report.h"
#include "generator/verify/systemd-opinion.h"
#include "generator/verify/takeover.h"
#include "generator/verify/user-files.h"
#include "generator/verify/words.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/printable.h"
#include "libstart/base/program.h"

/* keyturn-verify: what `keyturn-generator --verify` executes. It is a program of its own because it looks at images,
 * which the generator must never need. */

static char *arg_generator, *arg_root;
static char **arg_paths;
static gboolean arg_json, arg_files_only, arg_migrate, arg_taken;

static const GOptionEntry entries[] = {
        { "generator", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &arg_generator, NULL, NULL },
        { "migrate", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &arg_migrate, NULL, NULL },
        { "taken", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &arg_taken, NULL, NULL },
        { "root", 0, 0, G_OPTION_ARG_FILENAME, &arg_root, "Look at the tree below DIR", "DIR" },
        { "files-only", 0, 0, G_OPTION_ARG_NONE, &arg_files_only, "Look at no images, users, volumes and secrets",
          NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &arg_json, "Print JSON", NULL },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arg_paths, NULL, "[FILE|DIR...]" },
        { 0 },
};

typedef struct Choice {
        GPtrArray *directories; /* the search path, of char* */
        GPtrArray *files;       /* of char*: only these are of interest; empty: all */
} Choice;

static void choice_clear(Choice *choice) {
        g_ptr_array_unref(choice->directories);
        g_ptr_array_unref(choice->files);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Choice, choice_clear)

/* QUADLET_UNIT_DIRS, or the usual. */
static GPtrArray *find_search_path(void) {
        const char *said = g_getenv("QUADLET_UNIT_DIRS");

        return generation_is_users(arg_generator) ? load_users_search_path(said) : load_search_path(said);
}

/* Of a user, where it is the system's that is to say what it makes. */
static bool is_others(const char *path) {
        return !generation_is_users(arg_generator) && user_file_is(path);
}

static void add_directory(Choice *choice, char *directory) {
        if (g_ptr_array_find_with_equal_func(choice->directories, directory, g_str_equal, NULL))
                g_free(directory);
        else
                g_ptr_array_add(choice->directories, directory);
}

static bool is_below(const char *path, const GPtrArray *directories) {
        for (guint i = 0; i < directories->len; i++) {
                size_t length = strlen(directories->pdata[i]);

                if (g_str_has_prefix(path, directories->pdata[i]) && path[length] == '/')
                        return true;
        }
        return false;
}

/* What a file names is looked for where systemd would find it, else beside the file. `path` is taken over. */
static void add_file(Choice *choice, char *path) {
        g_autoptr(GPtrArray) usual = find_search_path();
        bool is_usual = is_below(path, usual) && !is_others(path);

        for (guint i = 0; is_usual && i < usual->len; i++)
                add_directory(choice, g_strdup(usual->pdata[i]));
        if (!is_usual)
                add_directory(choice, g_path_get_dirname(path));
        g_ptr_array_add(choice->files, path);
}

static bool add_path(Choice *choice, const char *path, GError **error) {
        g_autofree char *absolute = g_canonicalize_filename(path, arg_root[0] ? "/" : NULL);
        g_autofree char *full = g_strconcat(arg_root, absolute, NULL);

        if (g_file_test(full, G_FILE_TEST_IS_DIR)) {
                add_directory(choice, g_steal_pointer(&absolute));
                return true;
        }
        if (!g_file_test(full, G_FILE_TEST_EXISTS))
                return error_set(error, KT_ERROR_USAGE, "'%s' is not there", full);
        if (!name_suffix(absolute))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no file of Quadlet's: NAME.container and so on",
                                 path);
        add_file(choice, g_steal_pointer(&absolute));
        return true;
}

static bool choose(Choice *choice, GError **error) {
        choice->directories = g_ptr_array_new_null_terminated(4, g_free, TRUE);
        choice->files = g_ptr_array_new_with_free_func(g_free);
        for (char **path = arg_paths; path && *path; path++)
                if (!add_path(choice, *path, error))
                        return false;
        if (choice->directories->len == 0) {
                g_ptr_array_unref(choice->directories);
                choice->directories = find_search_path();
        }
        return true;
}

static bool is_chosen(const SourceFile *source, const Choice *choice) {
        return choice->files->len == 0 ||
               g_ptr_array_find_with_equal_func(choice->files, source->path, g_str_equal, NULL);
}

/* Another file's errors are shown where it is asked for. */
static void drop_others(const Generation *generation, const Choice *choice, Report *report) {
        for (guint i = report->remarks->len; i > 0; i--) {
                const Remark *remark = &g_array_index(report->remarks, Remark, i - 1);
                bool others = false, chosen = false;

                for (guint j = 0; j < generation->sources->files->len; j++) {
                        const SourceFile *source = generation->sources->files->pdata[j];

                        if (generation_is_about(generation, source, remark))
                                *(is_chosen(source, choice) ? &chosen : &others) = true;
                }
                if (others && !chosen)
                        g_array_remove_index(report->remarks, i - 1);
        }
}

static gboolean has_path(gconstpointer source, gconstpointer path) {
        return g_str_equal(((const SourceFile *) source)->path, path);
}

/* One that is not read has no errors, but that is no good news. */
static void miss_chosen(const Generation *generation, const Choice *choice, Report *report) {
        for (guint i = 0; i < choice->files->len; i++) {
                const char *path = choice->files->pdata[i];

                if (!g_ptr_array_find_with_equal_func(generation->sources->files, path, has_path, NULL))
                        report_add(report, path, 0, NULL, true, "hidden",
                                   "the file is not read: another one of this name comes before it, or it is in a "
                                   "directory that is left out");
        }
}

/* YAML can be of several files: what the system has of it is the system's. */
static bool is_users(const Generation *generation, const Remark *remark) {
        bool users = false;

        for (guint i = 0; remark->file && i < generation->sources->files->len; i++) {
                const SourceFile *source = generation->sources->files->pdata[i];

                if (!source_has_path(source, remark->file))
                        continue;
                if (!user_file_is(source->path))
                        return false;
                users = true;
        }
        return users;
}

/* Users' files were looked at as if they were the system's: those remarks go. Instead, for each chosen file one
 * remark says that it is a user's. */
static void settle_users(const Generation *generation, const Choice *choice, Report *report) {
        for (guint i = report->remarks->len; i > 0; i--)
                if (is_users(generation, &g_array_index(report->remarks, Remark, i - 1)))
                        g_array_remove_index(report->remarks, i - 1);
        for (guint i = 0; i < generation->sources->files->len; i++) {
                const SourceFile *source = generation->sources->files->pdata[i];

                if (!source->is_masked && user_file_is(source->path) && is_chosen(source, choice))
                        report_add(report, source->path, 0, NULL, false, "user-file",
                                   "a user's file, which is not looked at here: Podman's it stays unless it has a "
                                   "section [Keyturn], keyturn-user-generator --verify looks at it");
        }
}

/* What this machine makes of them, too. */
static void look_around(const Generation *generation, const Choice *choice, Report *report) {
        Outlook outlook;

        outlook_init(&outlook, arg_root);
        for (guint i = 0; i < generation->units->len; i++) {
                const MadeUnit *unit = generation->units->pdata[i];

                if (!is_chosen(unit->source, choice) || is_others(unit->source->path))
                        continue;
                outlook_check_timeout(unit, report);
                words_check(unit, report);
                if (arg_files_only || generation->is_users) /* what the machine has is not what she has */
                        continue;
                outlook_check(&outlook, unit, report);
                neighbours_check_machine(generation, unit, arg_root, report);
        }
}

/* Only of what the machine itself has: files of somewhere else take over nothing. */
static GPtrArray *find_taken(const Choice *choice, GError **error) {
        if (arg_files_only || arg_paths)
                return g_ptr_array_new();
        return takeover_find(arg_generator, arg_root, choice->directories, error);
}

static bool print_taken(GError **error) {
        g_auto(Choice) choice = { 0 };
        g_autoptr(GPtrArray) taken = choose(&choice, error) ? find_taken(&choice, error) : NULL;

        if (taken)
                takeover_print(taken, arg_json);
        return taken;
}

static bool verify(GError **error) {
        g_autoptr(Report) report = report_new(arg_root);
        g_auto(Choice) choice = { 0 };
        g_autoptr(Generation) generation = NULL;
        g_autoptr(GPtrArray) taken = NULL;

        if (!choose(&choice, error))
                return false;
        generation = generation_run(arg_generator, arg_root, choice.directories, report, error);
        if (!generation || !systemd_opinion_add(generation, arg_root, report, error))
                return false;
        neighbours_check_ports(generation, report);
        look_around(generation, &choice, report);
        drop_others(generation, &choice, report);
        miss_chosen(generation, &choice, report);
        if (!generation->is_users)
                settle_users(generation, &choice, report);
        report_sort(report);
        if (arg_migrate) {
                taken = find_taken(&choice, error);
                return taken && migration_print(generation, choice.files, report, taken, arg_json);
        }
        report_print(report, arg_json);
        return !report_has_error(report);
}

int keyturn_verify_main(int argc, char *argv[]) {
        g_autoptr(GOptionContext) context = g_option_context_new(NULL);
        g_autoptr(GError) error = NULL;
        bool is_parsed, is_right;

        setlocale(LC_CTYPE, "");
        if (program_says_version("keyturn-verify", argc, argv))
                return EXIT_SUCCESS;
        g_set_prgname("keyturn-generator --verify");
        g_option_context_add_main_entries(context, entries, NULL);
        g_option_context_set_description(context, "See keyturn-generator(8).\n");
        is_parsed = g_option_context_parse(context, &argc, &argv, &error);
        /* These two are keyturnctl's. */
        log_open(arg_migrate || arg_taken ? "keyturnctl" : "keyturn-generator", LOG_TO_STDERR, LOG_INFO);
        if (!is_parsed) {
                log_error("%s", error->message);
                return 2;
        }
        arg_generator = arg_generator ?: g_strdup(KEYTURN_GENERATORDIR "/keyturn-generator");
        arg_root = arg_root && !g_str_equal(arg_root, "/") ? g_canonicalize_filename(arg_root, NULL) : g_strdup("");
        is_right = arg_taken ? print_taken(&error) : verify(&error);
        if (!error && printable_flush(&error))
                return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
        log_error("%s", error->message);
        return 2;
}
