/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "generator/verify/systemd-opinion.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"

static bool is_own_program(const char *command) {
        return g_str_has_prefix(command, KEYTURN_LIBDIR "/") || g_str_has_prefix(command, "keyturnctl ");
}

/* keyturn's own programs need not be installed where files are written. */
static char *replace_programs(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                size_t before = strcspn(*line, "=");
                const char *command;

                before += strspn(*line + before, "=-@:+!");
                command = *line + before;
                if (is_own_program(command)) {
                        g_autofree char *old = *line;

                        *line = g_strdup_printf("%.*s/bin/true%s", (int) before, old,
                                                command + strcspn(command, " "));
                }
        }
        return g_strjoinv("\n", lines);
}

/* A template needs an instance. Transfer full. */
static char *loadable_name(const char *name) {
        const char *at = strstr(name, "@.");

        return at ? g_strdup_printf("%.*s@instance%s", (int) (at - name), name, at + 1) : g_strdup(name);
}

static bool write_units(const Generation *generation, const char *directory, GPtrArray *argv, GError **error) {
        for (guint i = 0; i < generation->units->len; i++) {
                const MadeUnit *unit = generation->units->pdata[i];
                g_autofree char *path = g_build_filename(directory, unit->name, NULL),
                                *text = replace_programs(unit->text);

                if (!g_file_set_contents(path, text, -1, error))
                        return false;
                g_ptr_array_add(argv, loadable_name(unit->name));
        }
        g_ptr_array_add(argv, NULL);
        return true;
}

static char *ask(const char *directory, const char *root, const char *scope, GPtrArray *argv) {
        g_auto(GStrv) environment = g_get_environ();
        g_autofree char *path = g_strdup_printf("%s:%s/etc/systemd/%s:%s/usr/lib/systemd/%s", directory, root, scope,
                                                root, scope);
        char *said = NULL;

        environment = g_environ_setenv(environment, "SYSTEMD_UNIT_PATH", path, TRUE);
        environment = g_environ_setenv(environment, "SYSTEMD_LOG_TARGET", "console", TRUE);
        environment = g_environ_setenv(environment, "SYSTEMD_LOG_COLOR", "0", TRUE);
        environment = g_environ_setenv(environment, "LC_ALL", "C", TRUE);
        /* Root has none, without which systemd-analyze --user looks at nothing. */
        environment = g_environ_setenv(environment, "XDG_RUNTIME_DIR", directory, FALSE);
        (void) g_spawn_sync(NULL, (char **) argv->pdata, environment,
                            G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said, NULL, NULL);
        return said;
}

static bool is_header(const char *line) {
        return line[0] == '[';
}

/* The person's line that became line `number` of the unit, or NULL. The unit has the lines of a file unchanged. */
static const UnitLine *find_line(const MadeUnit *unit, guint number) {
        g_auto(GStrv) lines = g_strsplit(unit->text, "\n", -1);
        guint header = number;
        g_autofree char *name = NULL;
        const UnitSection *section;

        if (number == 0 || number > g_strv_length(lines))
                return NULL;
        while (header > 1 && !is_header(lines[header - 1]))
                header--;
        if (!is_header(lines[header - 1]))
                return NULL;
        name = g_strndup(lines[header - 1] + 1, strcspn(lines[header - 1] + 1, "]"));
        section = unit_file_section(unit->source->unit, name);
        if (header == number)
                return section ? &section->header : NULL;
        /* systemd means the last of lines that are continued. */
        while (number > header + 1 && g_str_has_suffix(lines[number - 2], "\\"))
                number--;
        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                size_t length = strcspn(line->text, "\n");

                if (line->key && strlen(lines[number - 1]) == length &&
                    strncmp(line->text, lines[number - 1], length) == 0)
                        return line;
        }
        return NULL;
}

/* "[DIRECTORY/]NAME[:LINE]: MESSAGE", or "Unit NAME ...". What it says of other units is theirs. */
static void take_line(const MadeUnit *unit, const char *line, const char *directory, Report *report) {
        g_autofree char *loaded = loadable_name(unit->name);
        const char *text = g_str_has_prefix(line, directory) ? line + strlen(directory) + 1 : line;
        bool is_error = strstr(line, "bad unit file setting") || strstr(line, "efusing");
        const UnitLine *found = NULL;
        g_autofree char *key = NULL;
        char *end = NULL;
        size_t length;

        if (g_str_has_prefix(line, "Unit ") && g_str_has_prefix(line + 5, loaded)) {
                report_add(report, unit->source->path, 0, NULL, is_error, "systemd", line);
                return;
        }
        length = g_str_has_prefix(text, unit->name) ? strlen(unit->name) :
                 g_str_has_prefix(text, loaded)     ? strlen(loaded) :
                                                      0;
        if (length == 0 || text[length] != ':')
                return;
        text += length + 1;
        if (g_ascii_isdigit(*text)) {
                found = find_line(unit, (guint) g_ascii_strtoull(text, &end, 10));
                text = end[0] == ':' ? end + 1 : end;
        }
        report_add(report, found ? found->path : unit->source->path, found ? found->number : 0,
                   found ? found->key : NULL, is_error, "systemd", text + strspn(text, " "));
}

static void take_lines(const Generation *generation, const char *said, const char *directory, Report *report) {
        g_auto(GStrv) lines = g_strsplit(said, "\n", -1);

        for (char **line = lines; *line; line++)
                for (guint i = 0; i < generation->units->len; i++)
                        take_line(generation->units->pdata[i], *line, directory, report);
}

bool systemd_opinion_add(const Generation *generation, const char *root, Report *report, GError **error) {
        static const char *const command[] = { "systemd-analyze", "verify", "--man=no", "--recursive-errors=no" };
        g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *directory = g_build_filename(generation->directory, "verify", NULL), *said = NULL;

        if (generation->units->len == 0)
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(command); i++)
                g_ptr_array_add(argv, g_strdup(command[i]));
        g_ptr_array_add(argv, g_strdup(generation->is_users ? "--user" : "--system"));
        if (mkdir(directory, 0700) < 0)
                return error_set(error, KT_ERROR_FAILED, "Cannot make '%s'", directory);
        if (!write_units(generation, directory, argv, error))
                return false;
        said = ask(directory, root, generation->is_users ? "user" : "system", argv);
        if (said)
                take_lines(generation, said, directory, report);
        return true;
}
