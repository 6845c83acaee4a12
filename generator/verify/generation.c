/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "generator/unit/key.h"
#include "generator/unit/specifiers.h"
#include "generator/verify/generation.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/printable.h"

static void made_unit_free(void *data) {
        MadeUnit *unit = data;

        g_free(unit->name);
        g_free(unit->text);
        launch_args_free(unit->args);
        g_free(unit);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

void generation_free(Generation *generation) {
        if (generation->directory)
                (void) nftw(generation->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        g_free(generation->directory);
        sources_free(generation->sources);
        g_ptr_array_unref(generation->units);
        g_free(generation);
}

const UnitLine *source_find_line(const SourceFile *source, const char *section, const char *key, const char *text) {
        const UnitSection *lines = source->unit ? unit_file_section(source->unit, section) : NULL;

        return unit_section_last_with(lines, key, text ?: "");
}

/*
 * What the generator says: "FILE:LINE: 'KEY=': MESSAGE"
 */

/* What a .kube file names, as messages about it begin. Transfer full. */
static GPtrArray *find_yaml(const SourceFile *source) {
        GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
        const UnitSection *section = source->unit && g_str_has_suffix(source->name, ".kube") ?
                                             unit_file_section(source->unit, "Kube") :
                                             NULL;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

                if ((g_strcmp0(line->key, "Yaml") != 0 && g_strcmp0(line->key, "ConfigMap") != 0) ||
                    unit_section_takes_back(section, line))
                        continue;
                (void) words_split(names, line->value, WORDS_PLAIN, NULL);
                for (guint j = 0; j < names->len; j++) {
                        char *path = specifiers_file_path(source->directory, names->pdata[j], NULL);

                        if (path)
                                g_ptr_array_add(paths, path);
                }
        }
        return paths;
}

static bool is_own_path(const SourceFile *source, const char *path) {
        if (g_strcmp0(source->path, path) == 0 ||
            (source->unit && g_ptr_array_find_with_equal_func(source->unit->dropins, path, g_str_equal, NULL)))
                return true;
        for (guint i = 0; source->unit && i < source->unit->sections->len; i++) {
                const UnitSection *section = source->unit->sections->pdata[i];

                for (guint j = 0; j < section->lines->len; j++)
                        if (g_strcmp0(g_array_index(section->lines, UnitLine, j).path, path) == 0)
                                return true;
        }
        return false;
}

static bool names_yaml(const SourceFile *source, const char *path) {
        g_autoptr(GPtrArray) yaml = find_yaml(source);

        return g_ptr_array_find_with_equal_func(yaml, path, g_str_equal, NULL);
}

bool source_has_path(const SourceFile *source, const char *path) {
        return path && (is_own_path(source, path) || names_yaml(source, path));
}

/* It, or a part of it. */
static bool is_refused(const Generation *generation, const SourceFile *source) {
        bool is_made = false;

        for (guint i = 0; i < generation->units->len; i++) {
                const MadeUnit *unit = generation->units->pdata[i];

                if (unit->source == source && unit->is_refused)
                        return true;
                is_made |= unit->source == source;
        }
        return !is_made;
}

bool generation_is_about(const Generation *generation, const SourceFile *source, const Remark *remark) {
        if (!remark->file)
                return false;
        return is_own_path(source, remark->file) ||
               (names_yaml(source, remark->file) && (!remark->is_error || is_refused(generation, source)));
}

static void add_path(GHashTable *paths, const char *path) {
        g_hash_table_insert(paths, printable(path), g_strdup(path));
}

/* keyturn.conf and its drop-ins, which are of no file in particular. */
static void add_conf(GHashTable *paths, const char *root) {
        static const char *const directories[] = { "/etc/keyturn", KEYTURN_LIBDIR };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *main = g_build_filename(directories[i], "keyturn.conf", NULL),
                                *dropins = g_strconcat(main, ".d", NULL), *full = g_strconcat(root, dropins, NULL);
                g_autoptr(GDir) entries = g_dir_open(full, 0, NULL);
                const char *name;

                add_path(paths, main);
                while (entries && (name = g_dir_read_name(entries))) {
                        g_autofree char *path = g_build_filename(dropins, name, NULL);

                        add_path(paths, path);
                }
        }
}

/* Of files, drop-ins, YAML and keyturn.conf, as messages show them. Transfer full. */
static GHashTable *list_paths(const Sources *sources, const char *root) {
        GHashTable *paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        add_conf(paths, root);
        for (guint i = 0; i < sources->files->len; i++) {
                const SourceFile *source = sources->files->pdata[i];
                g_autoptr(GPtrArray) yaml = find_yaml(source);
                const char *last = NULL;

                add_path(paths, source->path);
                for (guint j = 0; j < yaml->len; j++)
                        add_path(paths, yaml->pdata[j]);
                for (guint j = 0; source->unit && j < source->unit->sections->len; j++) {
                        const GArray *lines = ((UnitSection *) source->unit->sections->pdata[j])->lines;

                        for (guint k = 0; k < lines->len; k++) {
                                const char *path = g_array_index(lines, UnitLine, k).path;

                                if (path != last)
                                        add_path(paths, path);
                                last = path;
                        }
                }
                for (guint j = 0; source->unit && j < source->unit->dropins->len; j++)
                        add_path(paths, source->unit->dropins->pdata[j]);
        }
        return paths;
}

/* Paths may have colons, too: only those that were read are looked for. The longest that fits. */
static const char *find_path(GHashTable *paths, const char *text, size_t *ret_length) {
        const char *found = NULL;
        GHashTableIter iter;
        void *shown, *path;

        *ret_length = 0;
        g_hash_table_iter_init(&iter, paths);
        while (g_hash_table_iter_next(&iter, &shown, &path)) {
                size_t length = strlen(shown);

                if (length > *ret_length && g_str_has_prefix(text, shown) && text[length] == ':') {
                        *ret_length = length;
                        found = path;
                }
        }
        return found;
}

/* "'KEY=': " in front is cut off. Transfer full: the key, or NULL. */
static char *take_key(const char **text) {
        const char *end = **text == '\'' ? strstr(*text, "=': ") : NULL;
        char *key;

        if (!end || memchr(*text, ' ', (size_t) (end - *text)))
                return NULL;
        key = g_strndup(*text + 1, (gsize) (end - *text - 1));
        *text = end + strlen("=': ");
        return key;
}

static void take_message(GHashTable *paths, const char *text, bool is_error, Report *report) {
        const char *rule = is_error ? "refused" : "ignored";
        size_t length;
        const char *path = find_path(paths, text, &length), *rest = text + length;
        g_autofree char *key = NULL;
        char *end;
        guint64 line = 0;

        if (path) {
                if (g_ascii_isdigit(rest[1])) {
                        line = g_ascii_strtoull(rest + 1, &end, 10);
                        rest = end;
                }
                rest += strspn(rest, ": ");
                key = take_key(&rest);
        }
        report_add(report, path, (guint) line, key, is_error, rule, rest);
}

static void take_messages(const Sources *sources, const char *said, Report *report) {
        g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
        g_autoptr(GHashTable) paths = list_paths(sources, report->root);

        for (char **line = lines; *line; line++) {
                const char *text = g_str_has_prefix(*line, "keyturn-generator: ") ? strchr(*line, ' ') + 1 : *line;

                if (g_str_has_prefix(text, "error: "))
                        take_message(paths, text + strlen("error: "), true, report);
                else if (g_str_has_prefix(text, "warning: "))
                        take_message(paths, text + strlen("warning: "), false, report);
        }
}

bool generation_call(const char *generator, const char *option, const char *directory, const char *root,
                     const GPtrArray *search_path, char **ret_printed, char **ret_said, int *ret_status,
                     GError **error) {
        const char *argv[] = { generator, option, directory, NULL, NULL, NULL };
        const char **rest = directory ? argv + 3 : argv + 2;
        g_autofree char *joined = g_strjoinv(":", (char **) search_path->pdata);
        g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "QUADLET_UNIT_DIRS", joined, TRUE);

        if (root[0]) {
                rest[0] = "--root";
                rest[1] = root;
        }
        environment = g_environ_unsetenv(environment, "SYSTEMD_SCOPE");
        environment = g_environ_unsetenv(environment, "JOURNAL_STREAM");
        return g_spawn_sync(NULL, (char **) argv, environment,
                            (ret_printed ? 0 : G_SPAWN_STDOUT_TO_DEV_NULL) |
                                    (ret_said ? 0 : G_SPAWN_STDERR_TO_DEV_NULL),
                            NULL, NULL, ret_printed, ret_said, ret_status, error);
}

static bool run_generator(const char *generator, const char *root, const char *directory,
                          const GPtrArray *search_path, char **ret_said, GError **error) {
        int status;

        if (!generation_call(generator, "--alone", directory, root, search_path, NULL, ret_said, &status, error))
                return false;
        return (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_FAILURE) ||
               error_set(error, KT_ERROR_FAILED, "%s failed: %s", generator, *ret_said);
}

/*
 * What it makes
 */

static const SourceFile *find_source(const Sources *sources, const char *text) {
        for (guint i = 0; i < sources->files->len; i++) {
                const SourceFile *source = sources->files->pdata[i];
                g_autofree char *origin = g_strdup_printf("# Made by keyturn-generator from %s\n", source->path);

                if (g_str_has_prefix(text, origin))
                        return source;
        }
        return NULL;
}

static LaunchArgs *read_args(const char *text) {
        static const char start[] = "\nExecStart=" KEYTURN_LIBDIR "/libstart run ";
        const char *line = strstr(text, start);
        g_autofree char *words = line ? g_strdup(line + strlen(start)) : NULL;
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

        if (!words)
                return NULL;
        words[strcspn(words, "\n")] = '\0';
        if (!words_split(list, words, WORDS_ESCAPED, NULL))
                return NULL;
        g_ptr_array_add(list, NULL);
        return launch_args_parse((const char *const *) list->pdata, NULL);
}

static void add_unit(Generation *generation, const char *name) {
        g_autofree char *path = g_build_filename(generation->directory, name, NULL), *text = NULL;
        const SourceFile *source;
        MadeUnit *unit;

        if (!g_str_has_suffix(name, ".service") || g_file_test(path, G_FILE_TEST_IS_SYMLINK) ||
            !g_file_get_contents(path, &text, NULL, NULL))
                return;
        source = find_source(generation->sources, text);
        if (!source)
                return;
        unit = g_new0(MadeUnit, 1);
        unit->source = source;
        unit->name = g_strdup(name);
        unit->is_refused = strstr(text, "/libstart refuse ");
        unit->args = read_args(text);
        unit->text = g_steal_pointer(&text);
        g_ptr_array_add(generation->units, unit);
}

static int compare_units(gconstpointer a, gconstpointer b) {
        return strcmp((*(const MadeUnit *const *) a)->name, (*(const MadeUnit *const *) b)->name);
}

static void read_units(Generation *generation) {
        g_autoptr(GDir) dir = g_dir_open(generation->directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                add_unit(generation, name);
        g_ptr_array_sort(generation->units, compare_units);
}

bool generation_is_users(const char *generator) {
        return g_str_has_suffix(generator, "/keyturn-user-generator");
}

Generation *generation_run(const char *generator, const char *root, const GPtrArray *search_path, Report *report,
                           GError **error) {
        g_autoptr(Generation) generation = g_new0(Generation, 1);
        g_autofree char *said = NULL;
        Tree tree;

        generation->is_users = generation_is_users(generator);
        generation->units = g_ptr_array_new_with_free_func(made_unit_free);
        generation->directory = g_dir_make_tmp("keyturn-verify-XXXXXX", error);
        if (!generation->directory || !tree_open(&tree, root[0] ? root : NULL, error))
                return NULL;
        generation->sources = load_sources(&tree, search_path);
        tree_close(&tree);
        if (!run_generator(generator, root, generation->directory, search_path, &said, error))
                return NULL;
        take_messages(generation->sources, said, report);
        read_units(generation);
        return g_steal_pointer(&generation);
}
