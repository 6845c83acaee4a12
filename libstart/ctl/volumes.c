/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/ctl/commands.h"
#include "libstart/request/mount-request.h"
#include "libstart/table/table.h"
#include "libstart/volume/volume.h"

/* Adds the container to those of the volume, which need not have been made yet. */
static void add_user(GHashTable *volumes, const MountRequest *request, const ContainerUnit *container) {
        GPtrArray *users;

        if (!request || request->type != MOUNT_VOLUME || mount_request_is_anonymous(request))
                return;
        users = g_hash_table_lookup(volumes, request->source);
        if (!users) {
                users = g_ptr_array_new();
                g_hash_table_insert(volumes, g_strdup(request->source), users);
        }
        if (!g_ptr_array_find(users, container->args->name, NULL))
                g_ptr_array_add(users, container->args->name);
}

static void add_users(GHashTable *volumes, const ContainerUnit *container) {
        const LaunchArgs *args = container->args;

        for (guint i = 0; i < args->volumes->len; i++) {
                g_autoptr(MountRequest) request = mount_request_parse_volume(args->volumes->pdata[i], NULL);

                add_user(volumes, request, container);
        }
        for (guint i = 0; i < args->mounts->len; i++) {
                g_autoptr(MountRequest) request = mount_request_parse_mount(args->mounts->pdata[i], NULL);

                add_user(volumes, request, container);
        }
}

/* Those that nobody uses, too, and Podman's. */
static bool add_directory(GHashTable *volumes, const char *directory, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_autoptr(GDir) entries = g_dir_open(directory, 0, &problem);
        const char *name;

        if (!entries && !g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                return error_set(error, KT_ERROR_FAILED, "%s", problem->message);
        while (entries && (name = g_dir_read_name(entries))) {
                g_autofree char *path = volume_path(directory, name);

                if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_hash_table_contains(volumes, name))
                        g_hash_table_insert(volumes, g_strdup(name), g_ptr_array_new());
        }
        return true;
}

/* What it is, once it has been made: files in this directory, or something else that is mounted there. */
static const char *find_type(const char *path) {
        struct statx st;

        if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st) < 0 || !S_ISDIR(st.stx_mode))
                return NULL;
        return st.stx_attributes & STATX_ATTR_MOUNT_ROOT ? "mount" : "directory";
}

/* du(1) follows no link, whatever a payload does to the tree meanwhile. Transfer full; NULL: it could not be told. */
static char *find_size(const char *path) {
        const char *const words[] = { "du", "--summarize", "--one-file-system", "--block-size=1", "--", path, NULL };
        g_autofree char *said = NULL;
        size_t digits;

        if (!g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                          &said, NULL, NULL, NULL))
                return NULL;
        digits = strspn(said, "0123456789");
        return digits > 0 ? g_strndup(said, digits) : NULL;
}

/* The size is last, where a table without it ends before. */
static void add_volume(Table *table, const char *directory, const char *name, GPtrArray *users, bool size) {
        g_autofree char *path = volume_path(directory, name);
        const char *type = find_type(path);

        table_add(table, g_strdup(name), g_strdup(type), table_join((char **) users->pdata, users->len),
                  type ? g_strdup(path) : NULL, type && size ? find_size(path) : NULL);
}

int command_volumes(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "VOLUME", "TYPE", "@CONTAINERS", "MOUNTPOINT", NULL };
        static const char *const with_size[] = { "VOLUME", "TYPE", "@CONTAINERS", "MOUNTPOINT", "%SIZE", NULL };
        g_autoptr(Table) table = table_new(options->json || options->size ? with_size : columns);
        g_autoptr(GHashTable)
                volumes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
        g_autofree char *directory = volume_directory(error);
        g_autoptr(GList) names = NULL;

        for (guint i = 0; i < all->len; i++)
                add_users(volumes, all->pdata[i]);
        if (!directory || !add_directory(volumes, directory, error))
                return -1;
        names = g_list_sort(g_hash_table_get_keys(volumes), (GCompareFunc) strcmp);
        for (const GList *name = names; name; name = name->next)
                add_volume(table, directory, name->data, g_hash_table_lookup(volumes, name->data), options->size);
        table_print(table, options->json);
        return 0;
}
