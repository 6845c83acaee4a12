/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/program.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/kube/convert.h"
#include "libstart/kube/output.h"
#include "libstart/systemd/systemd-call.h"

/* keyturn-kube, which nobody calls by hand:
 *
 *   convert STEM KUBE-FILE WORD...     by keyturn-generator: prints Quadlet files, as output.h says
 *   data DIRECTORY STEM WORD...        by a pod's service: writes what ConfigMaps and Secrets say below DIRECTORY
 *   ended any|all UNIT...              by the stop of the .kube file's service: fails where that is to have failed;
 *                                      an init container's UNIT has "init:" before it
 *
 * A word is one of
 *
 *   yaml:FD:PATH, map:FD:PATH          a file of Yaml= or ConfigMap=, open; data opens it itself, without "FD:"
 *   pod:LINE:TEXT, container:LINE:TEXT  what the .kube file has for each of them
 *   update:LINE:WORD                    one of AutoUpdate= of the .kube file; none: those before do not count
 *   force:                              KubeDownForce= of the .kube file
 *   directory:PATH                      where relative host paths begin */

#define SIZE_MAX_OF_A_FILE (4U << 20)
#define INIT "init:"

static void add_file(Kube *kube, const char *path, int fd, bool only_maps) {
        g_autofree char *text = NULL, *name = g_strdup_printf("'%s'", path);
        g_autoptr(GError) error = NULL;
        struct stat st;
        size_t length = 0;
        bool ok;

        if (fd >= 0) {
                ok = file_read_fd(fd, name, SIZE_MAX_OF_A_FILE, &text, &st, &error);
                length = ok ? (size_t) st.st_size : 0;
        } else {
                ok = file_read(path, &text, &length, &error);
                if (ok && !text)
                        ok = error_set(&error, KT_ERROR_NOT_FOUND, "'%s' is not there any more", path);
                else if (ok && length > SIZE_MAX_OF_A_FILE)
                        ok = error_set(&error, KT_ERROR_FAILED, "'%s' has more than 4 MiB", path);
        }
        if (ok)
                kube_add(kube, path, text, length, only_maps);
        else
                kube_error_text(kube, path, error->message);
}

/* KIND:NUMBER:TEXT. */
static bool take_word(Kube *kube, const char *word, bool with_fd) {
        bool is_map = g_str_has_prefix(word, "map:");
        const char *value = strchr(word, ':');
        char *end = (char *) value;
        guint64 number = 0;
        KubeExtra extra;
        GArray *to;

        if (!value)
                return false;
        value++;
        if (g_str_equal(word, "force:"))
                return kube->is_forced = true;
        if (g_str_has_prefix(word, "directory:")) {
                kube->directory = value;
                return true;
        }
        if (with_fd) {
                number = g_ascii_strtoull(value, &end, 10);
                if (*end != ':' || number > G_MAXINT)
                        return false;
                value = end + 1;
        }
        if (is_map || g_str_has_prefix(word, "yaml:")) {
                g_ptr_array_add(kube->files, g_strconcat(is_map ? "map:" : "yaml:", value, NULL));
                add_file(kube, value, with_fd ? (int) number : -1, is_map);
                return true;
        }
        extra = (KubeExtra) { .number = (unsigned) number, .text = value };
        to = g_str_has_prefix(word, "pod:")       ? kube->pod_lines :
             g_str_has_prefix(word, "container:") ? kube->container_lines :
             g_str_has_prefix(word, "update:")    ? kube->updates :
                                                    NULL;
        if (to && to == kube->updates && !value[0])
                g_array_set_size(to, 0);
        else if (to)
                g_array_append_val(to, extra);
        return to;
}

static bool take_words(Kube *kube, char *words[], bool with_fd, GError **error) {
        for (; *words; words++)
                if (!take_word(kube, *words, with_fd))
                        return error_set(error, KT_ERROR_USAGE, "'%s' is no word of keyturn-kube", *words);
        return true;
}

static bool convert(char *argv[], GError **error) {
        g_autoptr(Kube) kube = kube_new();

        kube->stem = argv[0];
        kube->path = argv[1];
        if (!take_words(kube, argv + 2, true, error))
                return false;
        kube_convert(kube);
        return fwrite(kube->output->str, 1, kube->output->len, stdout) == kube->output->len && fflush(stdout) == 0;
}

/* Removes what is in the directory. */
static bool make_empty(const char *path, GError **error) {
        g_auto(GStrv) names = directory_list(path, error);

        for (char **name = names; names && *name; name++) {
                g_autofree char *child = g_build_filename(path, *name, NULL);

                if (unlink(child) == 0)
                        continue;
                if (errno != EISDIR)
                        return error_set_errno(error, errno, "Cannot remove '%s'", child);
                if (!make_empty(child, error))
                        return false;
                if (rmdir(child) < 0)
                        return error_set_errno(error, errno, "Cannot remove '%s'", child);
        }
        return names;
}

/* The directory is the service's own, and root's alone (RuntimeDirectory=). */
static bool write_data(const KubeData *data, GError **error) {
        g_autofree char *path = g_build_filename(PATH_KUBE, data->path, NULL), *directory = g_path_get_dirname(path);
        gsize length;
        const char *bytes = g_bytes_get_data(data->bytes, &length);

        if (!directory_make(directory, 0755, error))
                return false;
        return g_str_has_suffix(path, "/") ||
               g_file_set_contents_full(path, bytes ?: "", (gssize) length, G_FILE_SET_CONTENTS_CONSISTENT,
                                        (int) data->mode, error);
}

static bool write_all(char *argv[], GError **error) {
        g_autoptr(Kube) kube = kube_new();
        g_autofree char *prefix = g_strconcat(argv[0], "/", NULL),
                        *directory = g_build_filename(PATH_KUBE, argv[0], NULL);

        if (!user_view_enter(error))
                return false;
        kube->stem = argv[1];
        kube->path = "";
        kube->directory = "/"; /* what a host path is has been looked at before */
        if (!take_words(kube, argv + 2, false, error))
                return false;
        kube_convert(kube);
        if (kube->failed) {
                g_auto(GStrv) lines = g_strsplit(kube->output->str, "\n", -1);

                for (char **line = lines; *line; line++)
                        if (g_str_has_prefix(*line, "E "))
                                log_error("%s", *line + 2);
                return false;
        }
        umask(0);
        if (!make_empty(directory, error)) /* systemd leaves it where the pod stopped while its unit was gone */
                return false;
        for (guint i = 0; i < kube->data->len; i++) {
                const KubeData *data = kube->data->pdata[i];

                if (g_str_has_prefix(data->path, prefix) && !write_data(data, error))
                        return false;
        }
        return true;
}

/*
 * ExitCodePropagation= of a .kube file: how its service ends, once all of its containers have
 */

typedef struct Ends {
        unsigned n, failed;
        bool is_one_up, has_init_failed;
        GString *names; /* of those that have failed */
} Ends;

static bool look(Ends *ends, const char *word, GError **error) {
        bool is_init = g_str_has_prefix(word, INIT);
        const char *unit = is_init ? word + strlen(INIT) : word;
        g_autofree char *state = systemd_unit_state(unit, error);
        bool has_failed = g_strcmp0(state, "failed") == 0;

        if (!state)
                return false;
        if (has_failed)
                g_string_append_printf(ends->names, " %s", unit);
        if (is_init) {
                ends->has_init_failed |= has_failed;
                return true;
        }
        ends->n++;
        ends->failed += has_failed;
        ends->is_one_up |= !has_failed && !g_str_equal(state, "inactive");
        return true;
}

/* A service that is stopped while one of them is active or on its way has not failed. Where an init container has
 * failed, no other has started: with Podman, neither has the service. */
static bool tell_end(char *argv[], GError **error) {
        g_autoptr(GString) names = g_string_new(NULL);
        Ends ends = { .names = names };
        bool is_all = g_str_equal(argv[0], "all");

        for (char **unit = argv + 1; *unit; unit++)
                if (!look(&ends, *unit, error))
                        return false;
        if (ends.is_one_up || (!ends.has_init_failed && (is_all ? ends.failed < ends.n : ends.failed == 0)))
                return true;
        return error_set(error, KT_ERROR_FAILED, "Its containers have ended, and failed have:%s", names->str);
}

int keyturn_kube_main(int argc, char *argv[]) {
        static const struct {
                const char *name;
                bool (*run)(char *argv[], GError **error);
        } commands[] = { { "convert", convert }, { "data", write_all }, { "ended", tell_end } };
        g_autoptr(GError) error = NULL;

        log_open("keyturn-kube", LOG_TO_STDERR, LOG_INFO);
        if (program_says_version("keyturn-kube", argc, argv))
                return EXIT_SUCCESS;
        for (size_t i = 0; argc > 3 && i < G_N_ELEMENTS(commands); i++) {
                if (!g_str_equal(argv[1], commands[i].name))
                        continue;
                if (commands[i].run(argv + 2, &error))
                        return EXIT_SUCCESS;
                if (error)
                        log_error("%s", error->message);
                return EXIT_FAILURE;
        }
        fputs("usage: keyturn-kube convert STEM KUBE-FILE WORD...\n"
              "       keyturn-kube data DIRECTORY STEM WORD...\n"
              "       keyturn-kube ended any|all UNIT...\n",
              stderr);
        return EXIT_FAILURE;
}
