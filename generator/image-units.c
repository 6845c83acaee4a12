/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/image-units.h"
#include "generator/parts/secrets.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/request/seccomp-request.h"

#define LIST KEYTURN_LIBDIR "/image-units"
#define FILTERS KEYTURN_LIBDIR "/seccomp"
#define PROGRAM KEYTURN_LIBDIR "/seccomp-precompile"

void image_units_free(ImageUnits *units) {
        if (!units)
                return;
        g_free(units->digest);
        g_ptr_array_unref(units->names);
        g_free(units);
}

/* The digest and the controls, and then a name a line. */
ImageUnits *image_units_read(const Tree *tree) {
        _cleanup_close_ int fd = tree_open_path(tree, LIST, O_RDONLY);
        g_autofree char *text = NULL;
        char *controls;
        size_t length;
        ImageUnits *units;

        if (fd < 0 || !tree_read(fd, &text, &length, NULL, NULL))
                return NULL;
        units = g_new0(ImageUnits, 1);
        units->names = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) lines = g_strsplit(text ?: "", "\n", -1);
        units->digest = g_strdup(lines[0] ?: "");
        controls = strchr(units->digest, ' ');
        if (controls) {
                *controls = '\0';
                units->controls = (unsigned) g_ascii_strtoull(controls + 1, NULL, 16);
        }
        for (char **line = lines[0] ? lines + 1 : lines; *line; line++)
                if (**line)
                        g_ptr_array_add(units->names, g_strdup(*line));
        return units;
}

/*
 * What they are made of
 */

static void add(GChecksum *checksum, const char *text) {
        g_checksum_update(checksum, (const guchar *) (text ?: ""), text ? (gssize) strlen(text) + 1 : 1);
}

static void add_line(GChecksum *checksum, const UnitLine *line, const char **last_path) {
        if (line->path != *last_path)
                add(checksum, line->path);
        *last_path = line->path;
        add(checksum, line->text);
}

static void add_source(GChecksum *checksum, const SourceFile *source) {
        const char *last_path = NULL;
        g_autofree char *about = g_strdup_printf("%d %o", source->is_masked,
                                                 source->unit ? source->unit->readers : 0);

        add(checksum, source->path);
        add(checksum, source->directory);
        add(checksum, about);
        add(checksum, source->error ? source->error->message : NULL);
        for (guint i = 0; source->unit && i < source->unit->sections->len; i++) {
                const UnitSection *section = source->unit->sections->pdata[i];

                add(checksum, section->name);
                for (guint j = 0; j < section->lines->len; j++)
                        add_line(checksum, &g_array_index(section->lines, UnitLine, j), &last_path);
        }
        for (guint i = 0; source->unit && i < source->unit->problems->len; i++)
                add(checksum, g_array_index(source->unit->problems, UnitProblem, i).text);
}

static void add_conf(GChecksum *checksum, KeyturnConf *conf) {
        for (Setting setting = 0; setting < N_SETTINGS; setting++) {
                const char *value, *origin;
                g_autoptr(GError) error = NULL;

                if (!keyturn_conf_default(conf, setting, &value, &origin, &error))
                        add(checksum, error->message);
                else {
                        add(checksum, value);
                        add(checksum, value ? origin : NULL);
                }
        }
        for (guint i = 0; i < keyturn_conf_problems(conf); i++)
                add(checksum, keyturn_conf_problem(conf, i));
}

/* What the other files say, nobody looks at again at boot. */
static bool has_module(const SourceFile *source) {
        const UnitSection *section = source->unit ? unit_file_section(source->unit, "Container") : NULL;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && (g_str_equal(line->key, "ContainersConfModule") || strstr(line->value, "--module")))
                        return true;
        }
        return false;
}

static bool have_modules(const GPtrArray *files) {
        for (guint i = 0; i < files->len; i++)
                if (has_module(files->pdata[i]))
                        return true;
        return false;
}

char *image_units_digest(const Tree *tree, const Sources *sources, KeyturnConf *conf, Hooks *hooks) {
        g_autoptr(GChecksum) checksum = NULL;

        if (hooks_are_there(hooks) || have_modules(sources->files) || sources->problems->len > 0)
                return NULL;
        checksum = g_checksum_new(G_CHECKSUM_SHA256);
        add(checksum, KEYTURN_VERSION);
        for (guint i = 0; i < sources->files->len; i++)
                add_source(checksum, sources->files->pdata[i]);
        add_conf(checksum, conf);
        secrets_add_stores(tree, checksum);
        return g_strdup(g_checksum_get_string(checksum));
}

/*
 * At boot
 */

/* Other files mean nothing without their unit. */
static bool is_pulled_in(const char *name) {
        return strstr(name, ".wants/") || strstr(name, ".requires/") || strstr(name, ".upholds/") ||
               (g_str_has_suffix(name, ".service") && !strchr(name, '/'));
}

void image_units_mask_others(const ImageUnits *units, Writer *writer) {
        for (guint i = 0; i < units->names->len; i++)
                if (is_pulled_in(units->names->pdata[i]))
                        writer_mask(writer, units->names->pdata[i]);
}

/*
 * When the image is built
 */

void image_units_remove(const GPtrArray *names, const char *root) {
        g_autofree char *list = g_strconcat(root, LIST, NULL);

        for (guint i = 0; i < names->len; i++) {
                g_autofree char *path = g_strconcat(root, KEYTURN_UNITDIR "/", names->pdata[i], NULL);

                (void) unlink(path);
        }
        (void) unlink(list);
}

static bool compile_filters(const char *root, GError **error) {
        g_autofree char *from = g_strconcat(root, KEYTURN_UNITDIR "/" SECCOMP_REQUEST_DROPIN, NULL),
                        *output = g_strconcat(root, FILTERS, NULL);
        const char *argv[] = { PROGRAM, "--root", root[0] ? root : "/", "--output", output, "--from", from, NULL };
        int status;

        if (!g_file_test(from, G_FILE_TEST_EXISTS))
                return true;
        if (g_mkdir_with_parents(output, 0755) < 0)
                return error_set(error, KT_ERROR_FAILED, "Cannot make '%s'", output);
        return g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, error) &&
               g_spawn_check_wait_status(status, error);
}

bool image_units_finish(const char *root, const ImageUnits *units, GError **error) {
        g_autofree char *path = g_strconcat(root, LIST, NULL);
        g_autoptr(GString) list = g_string_new(units->digest ?: "none");

        if (!compile_filters(root, error))
                return false;
        g_string_append_printf(list, " %x\n", units->controls);
        for (guint i = 0; i < units->names->len; i++)
                g_string_append_printf(list, "%s\n", (const char *) units->names->pdata[i]);
        return g_file_set_contents_full(path, list->str, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);
}
