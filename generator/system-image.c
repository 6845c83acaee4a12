/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/parts/secrets.h"
#include "generator/system-image.h"
#include "keyturn-config.h"
#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/request/seccomp-request.h"

#define LIST KEYTURN_LIBDIR "/image-units"
#define FILTERS KEYTURN_LIBDIR "/seccomp"
#define PROGRAM KEYTURN_LIBDIR "/seccomp-precompile"

/* *ret_text stays NULL where there is none. */
static bool read_list(const Tree *tree, char **ret_text, GError **error) {
        _cleanup_close_ int fd = tree_open_path(tree, LIST, O_RDONLY);
        size_t length;

        if (fd < 0)
                return errno == ENOENT || errno == ENOTDIR ||
                       error_set_errno(error, errno, "'" LIST "' cannot be opened");
        if (tree_read(fd, ret_text, &length, NULL, error))
                return true;
        return error_prefix(error, "'" LIST "' cannot be read: ");
}

static bool is_made(const Tree *tree, int directory_fd, const char *name) {
        g_autofree char *text = NULL;
        size_t length;

        return g_str_has_suffix(name, ".service") &&
               tree_read_at(tree, directory_fd, KEYTURN_UNITDIR, name, /* is_link= */ true, &text, &length, NULL,
                            NULL) &&
               text && g_str_has_prefix(text, "# Made by keyturn-generator from ");
}

/* Without the list: the services that say so themselves. What they were made of is not known. */
static void find_units(SystemImage *image, const Tree *tree) {
        _cleanup_close_ int fd = tree_open_path(tree, KEYTURN_UNITDIR, O_PATH | O_DIRECTORY);
        g_autoptr(DIR) entries = fd >= 0 ? directory_open(fd) : NULL;
        const char *name;

        image->before_digest = g_strdup("");
        while (entries && (name = directory_next(entries)))
                if (is_made(tree, fd, name))
                        g_ptr_array_add(image->before, g_strdup(name));
}

/* The digest and the controls, and then a name a line. */
static bool read_units(SystemImage *image, const Tree *tree, GError **error) {
        g_autofree char *text = NULL;
        bool is_known = read_list(tree, &text, error);
        char *controls;

        if (is_known && !text)
                return true;
        image->before = g_ptr_array_new_with_free_func(g_free);
        if (!is_known) {
                find_units(image, tree);
                return false;
        }
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        image->before_digest = g_strdup(lines[0] ?: "");
        controls = strchr(image->before_digest, ' ');
        if (controls) {
                *controls = '\0';
                image->before_controls = (unsigned) g_ascii_strtoull(controls + 1, NULL, 16);
        }
        for (char **line = lines[0] ? lines + 1 : lines; *line; line++)
                if (**line)
                        g_ptr_array_add(image->before, g_strdup(*line));
        return true;
}

bool system_image_open(SystemImage *image, const char *root, bool is_built, const Tree *tree, GError **error) {
        *image = (SystemImage) { .root = root, .is_built = is_built };
        return !tree || read_units(image, tree, error);
}

void system_image_clear(SystemImage *image) {
        g_clear_pointer(&image->before, g_ptr_array_unref);
        g_free(image->before_digest);
        g_free(image->digest);
        g_clear_pointer(&image->written, g_ptr_array_unref);
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
        const GPtrArray *problems = keyturn_conf_problems(conf);

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
        for (guint i = 0; i < problems->len; i++)
                add(checksum, problems->pdata[i]);
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

/* Of all that units are made of. NULL where that cannot be compared: OCI hooks and the files of ContainersConfModule=
 * are the business of others, who may change them. Transfer full. */
static char *make_digest(const Tree *tree, const Sources *sources, KeyturnConf *conf, Hooks *hooks) {
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

bool system_image_is_current(SystemImage *image, const Tree *tree, const Sources *sources, KeyturnConf *conf,
                             Hooks *hooks, unsigned missing) {
        if (!image->before && !image->is_built)
                return false;
        image->digest = make_digest(tree, sources, conf, hooks);
        return !image->is_built && g_strcmp0(image->digest, image->before_digest) == 0 &&
               !(missing & image->before_controls);
}

/*
 * What is made
 */

/* Those of these names, and the list. */
static void remove_units(const char *root, const GPtrArray *names) {
        g_autofree char *list = g_strconcat(root, LIST, NULL);

        for (guint i = 0; i < names->len; i++) {
                g_autofree char *path = g_strconcat(root, KEYTURN_UNITDIR "/", names->pdata[i], NULL);

                (void) unlink(path);
        }
        (void) unlink(list);
}

void system_image_begin(SystemImage *image, Writer *writer) {
        if (image->is_built && image->before)
                remove_units(image->root, image->before);
        if (image->before || image->is_built)
                image->written = writer_keep_names(writer, image->is_built);
}

/* Other files mean nothing without their unit. */
static bool is_pulled_in(const char *name) {
        return strstr(name, ".wants/") || strstr(name, ".requires/") || strstr(name, ".upholds/") ||
               (g_str_has_suffix(name, ".service") && !strchr(name, '/'));
}

void system_image_mask_others(const SystemImage *image, Writer *writer) {
        for (guint i = 0; image->before && !image->is_built && i < image->before->len; i++)
                if (is_pulled_in(image->before->pdata[i]))
                        writer_mask(writer, image->before->pdata[i]);
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

static bool write_list(const SystemImage *image, unsigned controls, GError **error) {
        g_autofree char *path = g_strconcat(image->root, LIST, NULL);
        g_autoptr(GString) list = g_string_new(image->digest ?: "none");

        g_string_append_printf(list, " %x\n", controls);
        for (guint i = 0; i < image->written->len; i++)
                g_string_append_printf(list, "%s\n", (const char *) image->written->pdata[i]);
        return g_file_set_contents_full(path, list->str, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);
}

bool system_image_finish(const SystemImage *image, unsigned controls, bool ok, GError **error) {
        if (!image->is_built)
                return ok;
        ok = ok && compile_filters(image->root, error) && write_list(image, controls, error);
        if (!ok)
                remove_units(image->root, image->written);
        return ok;
}
