/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/source-path.h"
#include "generator/untrusted-paths.h"
#include "libstart/base/path-value.h"
#include "libstart/option/mount-request.h"

/* Not known here: volumes whose path is a variable or begins with an unknown specifier, and those given to `podman
 * run` by hand. */

/* Podman's own volumes, of containers that no file describes. */
#define PODMAN_VOLUMES "/var/lib/containers/storage/volumes"

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
        static const struct {
                char specifier;
                const char *value;
        } directories[] = { { 'C', "/var/cache" }, { 'E', "/etc" },     { 'L', "/var/log" }, { 'S', "/var/lib" },
                            { 'T', "/tmp" },       { 'V', "/var/tmp" }, { 'h', "/root" },    { 't', "/run" } };
        size_t stem = strlen(service) - strlen(".service"), prefix = strcspn(service, "@");
        bool template = strstr(service, "@.");

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (directories[i].specifier == specifier)
                        return g_strdup(directories[i].value);
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
static char *known_part(const char *path, size_t length, const char *service) {
        g_autoptr(GString) known = g_string_new(NULL);

        for (size_t i = 0; i < length; i += 2) {
                size_t plain = MIN(strcspn(path + i, "%$"), length - i);
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

static void add(UntrustedPaths *paths, const Container *container, const char *path, size_t length) {
        g_autofree char *known = known_part(path, length, container->service->name);

        if (known && !is_lost_anyway(known))
                g_hash_table_add(paths->paths, g_steal_pointer(&known));
}

/* SOURCE:DESTINATION[:OPTION,...], which has been checked unless systemd is to complete it: no need to parse it
 * again. */
static bool volume_is_read_only(const char *volume) {
        const char *options = strchr(volume, ':');

        options = options ? strchr(options + 1, ':') : NULL;
        for (; options && options[0]; options += strcspn(options, ",")) {
                options++;
                if (strcspn(options, ",") == strlen("ro") && g_str_has_prefix(options, "ro"))
                        return true;
        }
        return false;
}

static void add_volumes(UntrustedPaths *paths, const Container *container) {
        const GPtrArray *volumes = container->args->volumes;

        for (guint i = 0; i < volumes->len; i++)
                if (!volume_is_read_only(volumes->pdata[i]))
                        add(paths, container, volumes->pdata[i], strcspn(volumes->pdata[i], ":"));
}

/* The host's path that is mounted; NULL for a tmpfs. A mount that only systemd can complete counts as writable.
 * Transfer full. */
static char *find_mount_source(const char *mount, bool *ret_writable) {
        g_autoptr(MountRequest) request = mount_request_parse_mount(mount, NULL);

        *ret_writable = !request || !mount_request_has_option(request, "ro");
        return request ? g_strdup(request->source) : mount_request_find_source(mount);
}

static void add_mounts(UntrustedPaths *paths, const Container *container) {
        const GPtrArray *mounts = container->args->mounts;

        for (guint i = 0; i < mounts->len; i++) {
                bool writable;
                g_autofree char *source = find_mount_source(mounts->pdata[i], &writable);

                if (source && writable)
                        add(paths, container, source, strlen(source));
        }
}

void untrusted_paths_add(UntrustedPaths *paths, const Container *container) {
        add_volumes(paths, container);
        add_mounts(paths, container);
        if (container->rootfs && container->args->read_only != FLAG_TRUE && !strchr(container->rootfs, ':'))
                add(paths, container, container->rootfs, strlen(container->rootfs));
}

/* systemd opens these itself, as root, following links, before libstart runs. */
static const char *const streams[] = { "StandardInput", "StandardOutput", "StandardError" };

/* The file of the host that is to be such a stream, or NULL. */
static const char *stream_path(const UnitLine *line) {
        static const char *const kinds[] = { "file:", "append:", "truncate:" };

        for (size_t i = 0; line && i < G_N_ELEMENTS(kinds); i++)
                if (g_str_has_prefix(line->value, kinds[i]))
                        return line->value + strlen(kinds[i]);
        return NULL;
}

bool untrusted_paths_matter(const UnitFile *unit) {
        const UnitSection *section = unit_file_section(unit, "Service");

        for (size_t i = 0; section && i < G_N_ELEMENTS(streams); i++)
                if (stream_path(unit_section_last(section, streams[i])))
                        return true;
        return false;
}

static void check_stream(const UntrustedPaths *paths, Container *container, const UnitLine *line, const char *path) {
        g_autofree char *known = known_part(path, strlen(path), container->service->name);
        GHashTableIter iter;
        gpointer untrusted;

        g_hash_table_iter_init(&iter, paths->paths);
        while (known && g_hash_table_iter_next(&iter, &untrusted, NULL))
                if (path_value_covers(untrusted, known)) {
                        container_problem(
                                container, line,
                                "a container can write to '%s', and put a link to any file of the host there, "
                                "which systemd would open: name a file outside of the containers' volumes",
                                (const char *) untrusted);
                        return;
                }
}

void untrusted_paths_check_streams(const UntrustedPaths *paths, Container *container) {
        for (size_t i = 0; i < G_N_ELEMENTS(streams); i++) {
                const UnitLine *line = service_user_line(container->service, streams[i]);
                const char *path = stream_path(line);

                if (path)
                        check_stream(paths, container, line, path);
        }
}

static bool opens_paths(const LaunchArgs *args) {
        if (args->rootfs == FLAG_TRUE || args->volumes->len > 0 || args->env_files->len > 0)
                return true;
        for (guint i = 0; i < args->mounts->len; i++) {
                bool writable;
                g_autofree char *source = find_mount_source(args->mounts->pdata[i], &writable);

                if (source)
                        return true;
        }
        return false;
}

void untrusted_paths_refer(UntrustedPaths *paths, const Container *container, const char *directory) {
        if (!opens_paths(container->args))
                return;
        g_free(container->args->untrusted_list);
        container->args->untrusted_list = g_build_filename(directory, UNTRUSTED_PATHS_FILE, NULL);
        paths->is_needed = true;
}

GString *untrusted_paths_print(UntrustedPaths *paths) {
        g_autoptr(GList) all = NULL;
        GString *list;

        if (!paths->is_needed)
                return NULL;
        list = g_string_new(NULL);
        g_hash_table_add(paths->paths, g_strdup(PODMAN_VOLUMES));
        all = g_list_sort(g_hash_table_get_keys(paths->paths), (GCompareFunc) strcmp);
        for (GList *path = all; path; path = path->next) {
                g_autofree char *line = g_strescape(path->data, NULL);

                g_string_append_printf(list, "%s\n", line);
        }
        return list;
}
