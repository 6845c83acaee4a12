/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/untrusted-paths.h"
#include "generator/parts/volumes.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/path-value.h"
#include "libstart/base/string-prefix.h"
#include "libstart/value/unit-words.h"

/* Not known here: volumes whose path is a variable or begins with an unknown specifier, and those given to `podman
 * run` by hand. */

struct UntrustedPaths {
        GHashTable *paths; /* set of char* */
        bool is_needed;
};

UntrustedPaths *untrusted_paths_new(void) {
        UntrustedPaths *paths = g_new0(UntrustedPaths, 1);

        paths->paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return paths;
}

void untrusted_paths_free(UntrustedPaths *paths) {
        g_hash_table_unref(paths->paths);
        g_free(paths);
}

/* These are never listed. Who may write to all of /etc or /usr has the host already and needs no link for it, but
 * other containers would lose the links that every system has there. In the kernel's file systems nobody can make
 * links. */
static bool is_lost_anyway(const char *path) {
        static const char *const directories[] = { "/", "/dev", "/etc", "/run", "/usr", "/var", NULL };

        return g_strv_contains(directories, path) || path_value_covers("/proc", path) ||
               path_value_covers("/sys", path);
}

/* What a specifier of systemd's stands for, where that is the same for all instances of the service; else "".
 * Transfer full. */
static char *expand(char specifier, const char *service) {
        const char *directory = specifiers_find_directory(specifier);
        size_t stem = strlen(service) - strlen(".service"), prefix = strcspn(service, "@");
        bool template = strstr(service, "@.");

        if (directory)
                return g_strdup(directory);
        if (specifier == 'p')
                return g_strndup(service, MIN(prefix, stem));
        if (specifier == 'N' && !template)
                return g_strndup(service, stem);
        if (specifier == 'n' && !template)
                return g_strdup(service);
        if (specifier == 'i' && !template && prefix < stem)
                return g_strndup(service + prefix + 1, stem - prefix - 1);
        return g_strdup("");
}

/* The path up to the first component that only systemd knows; all below it counts as untrusted. NULL where nothing
 * is known. Transfer full. */
static char *known_part(const char *path, const char *service) {
        g_autoptr(GString) known = g_string_new(NULL);
        size_t length = strlen(path);

        for (size_t i = 0; i < length; i += 2) {
                size_t plain = strcspn(path + i, "%$");
                g_autofree char *value = NULL;

                g_string_append_len(known, path + i, (gssize) plain);
                i += plain;
                if (i + 1 < length && path[i + 1] == path[i]) {
                        g_string_append_c(known, path[i]);
                        continue;
                }
                if (i < length)
                        value = path[i] == '%' && i + 1 < length ? expand(path[i + 1], service) : g_strdup("");
                if (value && !value[0]) {
                        const char *slash = strrchr(known->str, '/');

                        g_string_truncate(known, slash ? (gsize) (slash - known->str) : 0);
                        break;
                }
                if (value)
                        g_string_append(known, value);
        }
        return known->str[0] == '/' ? path_value_clean(known->str) : NULL;
}

static void add(UntrustedPaths *paths, const Conversion *container, const char *path) {
        g_autofree char *known = known_part(path, container->service->name);

        if (known && !is_lost_anyway(known))
                g_hash_table_add(paths->paths, g_steal_pointer(&known));
}

void untrusted_paths_add(UntrustedPaths *paths, const Conversion *container) {
        for (guint i = 0; i < container->sources->len; i++) {
                const MountSource *source = &g_array_index(container->sources, MountSource, i);
                g_autofree char *clean = source->path[0] == '/' ? path_value_clean(source->path) : NULL;

                if (!source->writable)
                        continue;
                add(paths, container, source->path);
                /* A ".." behind a specifier leads elsewhere, depending on how many components it stands for. */
                if (clean)
                        add(paths, container, clean);
        }
}

/* systemd opens these itself, as root, following links, before libstart runs. */
static const char *const streams[] = { "StandardInput", "StandardOutput", "StandardError" };

/* The file of the host that is to be such a stream, or NULL. */
static const char *stream_path(const UnitLine *line) {
        static const char *const kinds[] = { "file:", "append:", "truncate:", NULL };
        const char *kind = line ? string_prefix(line->value, kinds) : NULL;

        return kind ? line->value + strlen(kind) : NULL;
}

bool untrusted_paths_matter(const UnitFile *unit) {
        const UnitSection *section = unit_file_section(unit, "Service");

        for (size_t i = 0; section && i < G_N_ELEMENTS(streams); i++)
                if (stream_path(unit_section_last(section, streams[i])))
                        return true;
        return false;
}

static void check_stream(const UntrustedPaths *paths, Conversion *container, const UnitLine *line, const char *path) {
        g_autofree char *known = known_part(path, container->service->name);
        GHashTableIter iter;
        gpointer untrusted;

        g_hash_table_iter_init(&iter, paths->paths);
        while (known && g_hash_table_iter_next(&iter, &untrusted, NULL))
                if (path_value_covers(untrusted, known)) {
                        conversion_problem(
                                container, line,
                                "a container can write to '%s', and put a link to any file of the host there, "
                                "which systemd would open: name a file outside of the containers' volumes",
                                (const char *) untrusted);
                        return;
                }
}

void untrusted_paths_check_streams(const UntrustedPaths *paths, Conversion *container) {
        for (size_t i = 0; i < G_N_ELEMENTS(streams); i++) {
                const UnitLine *line = service_user_line(container->service, streams[i]);
                const char *path = stream_path(line);

                if (path)
                        check_stream(paths, container, line, path);
        }
}

void untrusted_paths_refer(UntrustedPaths *paths, const Conversion *container, const char *directory) {
        const LaunchArgs *args = container->args;

        if (container->sources->len == 0 && args->env_files->len == 0 && !launch_args_last(args->log_opt, "path"))
                return;
        g_free(container->args->untrusted_list);
        container->args->untrusted_list = g_build_filename(directory, UNTRUSTED_PATHS_FILE, NULL);
        paths->is_needed = true;
}

static bool names_path(const Conversion *volume) {
        for (guint i = 0; i < volume->sources->len; i++)
                if (strchr("/%$", g_array_index(volume->sources, MountSource, i).path[0]))
                        return true;
        return false;
}

/* Its command is written already. */
void untrusted_paths_refer_device(UntrustedPaths *paths, const Conversion *volume, const char *directory) {
        g_autofree char *list = g_build_filename(directory, UNTRUSTED_PATHS_FILE, NULL);
        g_autoptr(GString) command = g_string_new("ExecStart=" VOLUME_COMMAND);

        if (!names_path(volume))
                return;
        unit_words_add_option(command, "--untrusted-list", list);
        g_string_replace(volume->service->service_last, "ExecStart=" VOLUME_COMMAND, command->str, 1);
        paths->is_needed = true;
}

GString *untrusted_paths_print(UntrustedPaths *paths, MachineConf *conf) {
        g_autoptr(GList) all = NULL;
        GString *list;

        if (!paths->is_needed)
                return NULL;
        list = g_string_new(NULL);
        /* Podman's own volumes, of containers that no file describes. */
        g_hash_table_add(paths->paths, g_strdup(machine_conf_volumes(conf)));
        all = g_list_sort(g_hash_table_get_keys(paths->paths), (GCompareFunc) strcmp);
        for (GList *path = all; path; path = path->next) {
                g_autofree char *line = g_strescape(path->data, NULL);

                g_string_append_printf(list, "%s\n", line);
        }
        return list;
}
