/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/user-view.h"
#include "libstart/request/device-request.h"
#include "libstart/service/device-nodes.h"
#include "libstart/value/unit-words.h"

static void free_node(void *data) {
        DeviceNode *node = data;

        g_free(node->source);
        g_free(node->destination);
        g_free(node);
}

static bool is_device(const struct stat *st) {
        return S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode);
}

static DeviceNode *node_new(const char *source, char *destination, const struct stat *st, const char *access) {
        DeviceNode *node = g_new0(DeviceNode, 1);

        node->source = g_strdup(source);
        node->destination = destination;
        node->type = S_ISCHR(st->st_mode) ? 'c' : 'b';
        node->major = major(st->st_rdev);
        node->minor = minor(st->st_rdev);
        node->mode = st->st_mode & ALLPERMS;
        node->uid = st->st_uid;
        node->gid = st->st_gid;
        memcpy(node->access, access, sizeof node->access);
        return node;
}

static bool refuse_missing(const char *path, GError **error) {
        g_autofree char *unit = unit_words_device(path);

        return error_set(
                error, KT_ERROR_NOT_FOUND,
                "Device '%s' is not there. To wait for it: BindsTo=%s and After=%s in [Unit], see DEVICES in "
                "keyturn.container(5). To do without it, name it '-%s'",
                path, unit, unit, path);
}

static int mode_of(const char *access) {
        return (strchr(access, 'r') ? R_OK : 0) | (strchr(access, 'w') ? W_OK : 0);
}

bool device_node_check_rest(const char *asked, const char *path, const char *access_wanted, GError **error) {
        int mode = mode_of(access_wanted);
        const struct {
                int mode;
                const char *what;
        } all[] = { { R_OK, "reading" }, { W_OK, "writing" } };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (!(mode & all[i].mode) && access(path, all[i].mode) == 0)
                        return error_set(error, KT_ERROR_UNSUPPORTED,
                                         "Nothing keeps a container of this user from %s '%s', as she may do it: "
                                         "name it without what is to be allowed, or let root start it",
                                         all[i].what, asked);
        return true;
}

static bool refuse_user(const char *path, const char *node, const char *wanted, GError **error) {
        struct stat st = { 0 };

        (void) stat(node, &st);
        return error_set(
                error, KT_ERROR_FAILED,
                "This user may not use the device '%s' (%s), whose mode is %04o: 'ls -l %s' says which group "
                "may; who is in it since her manager runs needs a new one: systemctl restart user@UID",
                path, wanted, st.st_mode & ALLPERMS, node);
}

/* Our cgroup, and so its device rules, are the payload's. access(2) asks them; to open a device would already do
 * something with some of them. */
static bool check_access(const char *path, const char *node, const char *wanted, GError **error) {
        int mode = mode_of(wanted);

        if (user_view_is_entered() && !device_node_check_rest(path, node, wanted, error))
                return false;
        if (mode == 0 || access(node, mode) == 0)
                return true;
        if (errno == EACCES && user_view_is_entered())
                return refuse_user(path, node, wanted, error);
        if (errno != EPERM)
                return error_set_errno(error, errno, "Cannot use the device '%s'", path);
        return error_set(
                error, KT_ERROR_FAILED,
                "The service is not allowed to use the device '%s' (%s): another setting of the unit takes "
                "its DeviceAllow= back, see 'systemctl cat'; or the device came while the service was started, "
                "and starting it again helps",
                path, wanted);
}

static bool add_node(GPtrArray *nodes, const DeviceRequest *device, const char *path, const struct stat *st,
                     GError **error) {
        if (!is_device(st))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s' is no device; files are mounted with Volume=", device->source);
        if (!check_access(device->source, path, device->access, error))
                return false;
        g_ptr_array_add(nodes, node_new(path, g_strdup(device->destination ?: path), st, device->access));
        return true;
}

static int compare_names(const FTSENT **a, const FTSENT **b) {
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* One below the directory `top`. */
static bool add_below(GPtrArray *nodes, const DeviceRequest *device, const char *top, const FTSENT *entry,
                      GError **error) {
        const char *path = entry->fts_path;

        if (!check_access(path, path, device->access, error))
                return false;
        g_ptr_array_add(nodes, node_new(path, g_strconcat(device->destination ?: top, path + strlen(top), NULL),
                                        entry->fts_statp, device->access));
        return true;
}

/* The console is the host's own: the payload's would be a terminal of its own. */
static void add_any(GPtrArray *nodes, const FTSENT *entry) {
        DeviceNode *node;

        if (g_str_equal(entry->fts_path, "/dev/console") || g_str_equal(entry->fts_path, "/dev/ptmx"))
                return;
        node = node_new(NULL, g_strdup(entry->fts_path), entry->fts_statp, "rwm");
        node->is_made = true;
        g_ptr_array_add(nodes, node);
}

/* Adds each node below the directory, on the same file system, in the order of their names: as `device` asks for it,
 * or NULL for a privileged one. Links are not followed, and what vanishes meanwhile is not there. */
static bool add_all(GPtrArray *nodes, const DeviceRequest *device, const char *directory, GError **error) {
        char *const paths[] = { (char *) directory, NULL };
        FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, compare_names);
        bool ok = fts;

        if (!fts)
                return error_set_errno(error, errno, "Cannot read '%s'", directory);
        for (FTSENT *entry = fts_read(fts); ok && entry; entry = fts_read(fts)) {
                if (entry->fts_info != FTS_DEFAULT || !is_device(entry->fts_statp))
                        continue;
                if (device)
                        ok = add_below(nodes, device, directory, entry, error);
                else
                        add_any(nodes, entry);
        }
        fts_close(fts);
        return ok;
}

/* Whether the unit allows its devices was decided by its name. */
static bool add_directory(GPtrArray *nodes, const DeviceRequest *device, const char *path, bool guarded,
                          GError **error) {
        guint before = nodes->len;

        if (device->kind != DEVICE_DIRECTORY && !guarded)
                return error_set(error, KT_ERROR_USAGE, "'%s' is a directory: name it '%s/', with a slash at its end",
                                 device->source, device->source);
        return add_all(nodes, device, path, error) &&
               (nodes->len > before || device->optional ||
                error_set(error, KT_ERROR_NOT_FOUND, "There is no device in the directory '%s'", device->source));
}

static bool add_device(GPtrArray *nodes, const DeviceRequest *device, bool guarded, GError **error) {
        g_autofree char *path = device->kind == DEVICE_CDI ? NULL : realpath(device->source, NULL);
        struct stat st;

        if (device->kind == DEVICE_CDI)
                return true; /* run/cdi-devices.h */
        if (!path || stat(path, &st) < 0)
                return errno == ENOENT ? device->optional || refuse_missing(device->source, error) :
                                         error_set_errno(error, errno, "Cannot find the device '%s'", device->source);
        return S_ISDIR(st.st_mode) ? add_directory(nodes, device, path, guarded, error) :
                                     add_node(nodes, device, path, &st, error);
}

GPtrArray *device_nodes_find(const ContainerRequest *request, GError **error) {
        g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func(free_node);

        for (guint i = 0; i < request->devices->len; i++)
                if (!add_device(nodes, request->devices->pdata[i], request->guard_devices || request->privileged,
                                error))
                        return NULL;
        if (request->privileged && request->userns.mode == USERNS_HOST && !add_all(nodes, NULL, "/dev", error))
                return NULL;
        return g_steal_pointer(&nodes);
}
