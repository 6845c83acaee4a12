/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/kube-files.h"
#include "generator/unit/key.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"

/* One .kube file, and the call of keyturn-kube for it. */
typedef struct KubeCall {
        const Tree *tree;
        Sources *sources;
        SourceFile *file;
        GPtrArray *words;
        GArray *fds;
        bool failed;
        mode_t readers;  /* of all the YAML */
        GPtrArray *made; /* of SourceFile */
} KubeCall;

/* As what is wrong with a line of the .kube file itself: the service that is made of it refuses to start. */
static void say(KubeCall *call, const char *path, unsigned number, const char *text) {
        UnitFile *unit = call->file->unit;
        const UnitProblem problem = { .line = { .path = unit_file_keep(unit, path), .number = number },
                                      .text = unit_file_keep(unit, text) };

        g_array_append_val(unit->problems, problem);
        call->failed = true;
}

static void say_at(KubeCall *call, const UnitLine *line, const char *what) {
        g_autofree char *text = g_strdup_printf("'%s=': %s", line->key, what);

        say(call, line->path, line->number, text);
}

/* "LINE:COLUMN: TEXT" */
static void take_message(KubeCall *call, const char *path, const char *message, bool is_error) {
        char *end;
        unsigned number = (unsigned) g_ascii_strtoull(message, &end, 10);
        const char *text = strchr(message, ' ');
        unsigned column = *end == ':' ? (unsigned) g_ascii_strtoull(end + 1, NULL, 10) : 0;
        g_autofree char *placed = column > 0 ? g_strdup_printf("column %u:%s", column, text ?: "") :
                                               g_strdup(text ? text + 1 : message);

        if (is_error)
                say(call, path, number, placed);
        else
                log_warning("%s:%u: %s", path, number, placed);
}

/*
 * What it is called with
 */

static void add_yaml(KubeCall *call, const UnitLine *line, const char *name) {
        const char *kind = g_str_equal(line->key, "Yaml") ? "yaml" : "map";
        g_autoptr(GError) error = NULL;
        g_autofree char *path = specifiers_file_path(call->file->directory, name, &error), *what = NULL;
        _cleanup_close_ int fd = path ? tree_open_path(call->tree, path, O_RDONLY | O_NONBLOCK | O_NOCTTY) : -1;
        struct stat st;

        if (!path) {
                say_at(call, line, error->message);
                return;
        }
        if (fd < 0 || fstat(fd, &st) < 0) {
                what = g_strdup_printf("'%s' cannot be opened: %s%s", path, g_strerror(errno),
                                       strchr(path, '$') ? "; variables do not work here, specifiers such as %h do" :
                                                           "");
                say_at(call, line, what);
                return;
        }
        (void) fcntl(fd, F_SETFD, 0);
        call->readers &= st.st_mode;
        g_ptr_array_add(call->words, g_strdup_printf("%s:%d:%s", kind, fd, path));
        g_array_append_val(call->fds, fd);
        (void) fd_steal(&fd);
        if (g_str_equal(kind, "yaml")) {
                g_autofree char *where = unit_file_value(call->file->unit, "Kube", "SetWorkingDirectory"),
                                *directory = g_path_get_dirname(path);

                if (where && g_ascii_strcasecmp(where, "yaml") == 0)
                        g_ptr_array_add(call->words, g_strconcat("directory:", directory, NULL));
                else if (where && g_ascii_strcasecmp(where, "unit") == 0)
                        g_ptr_array_add(call->words, g_strconcat("directory:", call->file->directory, NULL));
        }
}

static bool is_yaml(const char *key) {
        return g_strcmp0(key, "Yaml") == 0 || g_strcmp0(key, "ConfigMap") == 0;
}

static void add_yaml_line(KubeCall *call, const UnitLine *line) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        if (!words_split(names, line->value, WORDS_PLAIN, NULL))
                say_at(call, line, "a quote is open");
        for (guint i = 0; i < names->len; i++)
                add_yaml(call, line, names->pdata[i]);
}

/* None takes back those before. */
static void add_updates(KubeCall *call, const UnitLine *line) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!words_split(words, line->value, WORDS_PLAIN, NULL))
                say_at(call, line, "a quote is open");
        if (words->len == 0)
                g_ptr_array_add(call->words, g_strdup_printf("update:%u:", line->number));
        for (guint i = 0; i < words->len; i++)
                g_ptr_array_add(call->words, g_strdup_printf("update:%u:%s", line->number, (char *) words->pdata[i]));
}

static void add_line(KubeCall *call, const UnitLine *line) {
        static const char
                *const of_pods[] = { "ContainersConfModule", "Network",    "PublishPort", "RemapGid", "RemapUid",
                                     "RemapUidSize",         "RemapUsers", "UserNS",      NULL },
                       *const of_containers[] = { "ContainersConfModule", "LogDriver", "LogOpt", NULL };

        if (g_strv_contains(of_pods, line->key))
                g_ptr_array_add(call->words, g_strdup_printf("pod:%u:%s=%s", line->number, line->key, line->value));
        if (g_strv_contains(of_containers, line->key))
                g_ptr_array_add(call->words,
                                g_strdup_printf("container:%u:%s=%s", line->number, line->key, line->value));
        else if (g_str_equal(line->key, "AutoUpdate"))
                add_updates(call, line);
}

/*
 * What it says
 */

typedef struct Place {
        const char *path;
        unsigned number;
} Place;

static void place_line(UnitLine *line, const GArray *places) {
        const Place *place;

        if (line->number == 0 || line->number > places->len)
                return;
        place = &g_array_index(places, Place, line->number - 1);
        line->number = place->number;
        line->path = place->path;
}

/* The lines are those of the YAML. */
static void finish_file(SourceFile *made, const GString *text, const GArray *places) {
        (void) unit_file_parse(made->unit, made->path, text->str, text->len, NULL);
        for (guint i = 0; i < made->unit->sections->len; i++) {
                UnitSection *section = made->unit->sections->pdata[i];

                place_line(&section->header, places);
                for (guint j = 0; j < section->lines->len; j++)
                        place_line(&g_array_index(section->lines, UnitLine, j), places);
        }
}

static SourceFile *make_file(const KubeCall *call, const char *name) {
        SourceFile *made = g_new0(SourceFile, 1);

        made->name = g_strdup(name);
        made->path = g_strdup(call->file->path);
        made->directory = g_strdup(call->file->directory);
        made->unit = unit_file_new();
        made->unit->readers = call->readers;
        return made;
}

static void refuse_twins(KubeCall *call, const char *name) {
        for (guint i = 0; i < call->sources->files->len; i++) {
                const SourceFile *other = call->sources->files->pdata[i];
                g_autofree char *text = NULL;

                if (!g_str_equal(other->name, name))
                        continue;
                text = g_strdup_printf("would become '%s', which is there already (%s): rename one of the two", name,
                                       other->path);
                say(call, call->file->path, 1, text);
        }
}

static void read_output(KubeCall *call, const char *output) {
        g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(Place));
        const char *path = call->file->path;
        SourceFile *made = NULL;

        for (char **line = lines; *line; line++) {
                const char *rest = (*line)[0] ? *line + 2 : "";
                char *end;

                if (((*line)[0] == 'F' || !(*line)[0]) && made) {
                        finish_file(made, text, places);
                        made = NULL;
                }
                if ((*line)[0] == 'E')
                        take_message(call, path, rest, true);
                else if ((*line)[0] == 'W')
                        take_message(call, path, rest, false);
                else if ((*line)[0] == 'F') {
                        refuse_twins(call, rest);
                        made = make_file(call, rest);
                        g_ptr_array_add(call->made, made);
                        g_string_truncate(text, 0);
                        g_array_set_size(places, 0);
                        path = made->path;
                } else if ((*line)[0] == 'P')
                        path = unit_file_keep(call->file->unit, rest);
                else if ((*line)[0] == 'L' && made) {
                        Place place = { path, (unsigned) g_ascii_strtoull(rest, &end, 10) };

                        g_array_append_val(places, place);
                        g_string_append_printf(text, "%s\n", *end ? end + 1 : "");
                }
        }
}

/*
 * The call
 */

/* keyturn-kube lies beside libstart, which this is. Transfer full. */
static char *find_program(void) {
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *directory = NULL;

        if (!self)
                return NULL;
        directory = g_path_get_dirname(self);
        return g_build_filename(directory, "keyturn-kube", NULL);
}

/* It inherits the descriptors of the YAML: nothing else is open without O_CLOEXEC. */
static bool execute(KubeCall *call, char **ret_output, GError **error) {
        g_autofree char *program = find_program();
        bool done;
        int status;

        if (!program)
                return error_set_errno(error, errno, "Cannot find keyturn-kube");
        call->words->pdata[0] = program;
        done = g_spawn_sync(NULL, (char **) call->words->pdata, NULL, G_SPAWN_LEAVE_DESCRIPTORS_OPEN, NULL, NULL,
                            ret_output, NULL, &status, error) &&
               g_spawn_check_wait_status(status, error);
        call->words->pdata[0] = NULL;
        return done || error_prefix(error, "'%s': ", program);
}

static void close_fds(KubeCall *call) {
        for (guint i = 0; i < call->fds->len; i++)
                close(g_array_index(call->fds, int, i));
}

static void run_call(KubeCall *call) {
        const UnitSection *section = unit_file_section(call->file->unit, "Kube");
        g_autofree char *output = NULL, *force = unit_file_value(call->file->unit, "Kube", "KubeDownForce"),
                        *stem = g_strndup(call->file->name, strlen(call->file->name) - strlen(".kube"));
        g_autoptr(GError) error = NULL;
        bool is_forced = false;

        g_ptr_array_add(call->words, NULL);
        g_ptr_array_add(call->words, g_strdup("convert"));
        g_ptr_array_add(call->words, g_steal_pointer(&stem));
        g_ptr_array_add(call->words, g_strdup(call->file->path));
        if (force && key_parse_boolean(force, &is_forced, NULL) && is_forced)
                g_ptr_array_add(call->words, g_strdup("force:"));
        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (is_yaml(line->key) && !unit_section_takes_back(section, line))
                        add_yaml_line(call, line);
                else if (line->key)
                        add_line(call, line);
        }
        g_ptr_array_add(call->words, NULL);
        if (call->fds->len == 0 && !call->failed)
                error_set(&error, KT_ERROR_USAGE, "Yaml= must be given");
        else if (call->fds->len > 0 && execute(call, &output, &error))
                read_output(call, output);
        if (error)
                say(call, call->file->path, 1, error->message);
        close_fds(call);
}

static void add_file(const Tree *tree, Sources *sources, SourceFile *file) {
        KubeCall call = { .tree = tree,
                          .sources = sources,
                          .file = file,
                          .words = g_ptr_array_new_with_free_func(g_free),
                          .fds = g_array_new(FALSE, FALSE, sizeof(int)),
                          .readers = file->unit->readers,
                          .made = g_ptr_array_new_with_free_func(source_file_free) };

        run_call(&call);
        file->unit->readers &= call.readers;
        while (!call.failed && call.made->len > 0)
                g_ptr_array_add(sources->files, g_ptr_array_steal_index(call.made, 0));
        g_ptr_array_unref(call.words);
        g_array_unref(call.fds);
        g_ptr_array_unref(call.made);
}

void kube_files_add(const Tree *tree, Sources *sources) {
        guint n = sources->files->len;

        for (guint i = 0; i < n; i++) {
                SourceFile *file = sources->files->pdata[i];

                if (g_str_has_suffix(file->name, ".kube") && file->unit && !file->error)
                        add_file(tree, sources, file);
        }
        if (sources->files->len > n)
                sources_sort(sources);
}
