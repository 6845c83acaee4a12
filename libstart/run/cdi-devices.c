/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/base/user-view.h"
#include "libstart/hook/hook-process.h"
#include "libstart/oci/host-facts.h"
#include "libstart/request/device-request.h"
#include "libstart/run/cdi-devices.h"
#include "libstart/service/device-nodes.h"

#define CONVERTER KEYTURN_LIBDIR "/keyturn-cdi"

typedef runtime_spec_schema_config_schema Spec;

/* Takes some milliseconds, and is only needed for a file that keyturn-cdi.service has not seen. */
static char *convert(const char *path, GError **error) {
        char *args[] = { (char *) CONVERTER, (char *) path, NULL };
        const runtime_spec_schema_defs_hook program = { .path = args[0], .args = args, .args_len = 2 };
        char *json = NULL;

        return hook_process_run(&program, "/", "", &json, error) ? json : NULL;
}

static bool find_device(CdiDevices *devices, const DeviceRequest *request, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (!devices->search) {
                devices->search = cdi_search_new(convert);
                devices->edits = g_ptr_array_new();
        }
        if (cdi_search_find(devices->search, request->source, devices->edits, &problem) ||
            (request->optional && g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)))
                return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

bool cdi_devices_find(const ContainerRequest *request, CdiDevices *ret, GError **error) {
        for (guint i = 0; i < request->devices->len; i++) {
                const DeviceRequest *device = request->devices->pdata[i];

                if (device->kind == DEVICE_CDI && !find_device(ret, device, error))
                        return false;
        }
        return true;
}

void cdi_devices_clear(CdiDevices *devices) {
        g_clear_pointer(&devices->search, cdi_search_free);
        g_clear_pointer(&devices->edits, g_ptr_array_unref);
}

/*
 * Nodes
 */

/* What the file leaves out is as on the host. */
static bool fill_node(const CdiNode *wanted, DeviceNode *node, GError **error) {
        const char *path = wanted->host_path ?: wanted->path;
        struct stat st;

        if (!user_view_is_entered() && wanted->type && wanted->major != CDI_NOT_SAID) {
                node->type = wanted->type;
                node->major = (unsigned) wanted->major;
                node->minor = wanted->minor == CDI_NOT_SAID ? 0 : (unsigned) wanted->minor;
                return true;
        }
        if (stat(path, &st) < 0)
                return error_set_errno(error, errno, "Cannot find the device '%s', which a file of CDI names", path);
        if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode))
                return error_set(error, KT_ERROR_FAILED, "'%s', which a file of CDI names, is no device", path);
        if (user_view_is_entered()) { /* none can be made that anybody could open: the host's own is mounted */
                node->is_made = false;
                node->source = g_strdup(path);
                return device_node_check_rest(wanted->path, path, node->access, error);
        }
        node->type = S_ISCHR(st.st_mode) ? 'c' : 'b';
        node->major = major(st.st_rdev);
        node->minor = minor(st.st_rdev);
        return true;
}

static bool add_node(const CdiNode *wanted, guint32 uid, guint32 gid, GPtrArray *nodes, GError **error) {
        DeviceNode *node;

        if (device_nodes_have(nodes, wanted->path))
                return true;
        node = g_new0(DeviceNode, 1);
        g_ptr_array_add(nodes, node);
        node->destination = g_strdup(wanted->path);
        node->mode = wanted->mode == CDI_NOT_SAID ? 0666 : (guint32) wanted->mode & ALLPERMS;
        node->uid = wanted->uid == CDI_NOT_SAID ? uid : (guint32) wanted->uid;
        node->gid = wanted->gid == CDI_NOT_SAID ? gid : (guint32) wanted->gid;
        node->is_made = true;
        memcpy(node->access, wanted->access, sizeof node->access);
        return fill_node(wanted, node, error);
}

bool cdi_devices_add_nodes(const CdiDevices *devices, guint32 uid, guint32 gid, GPtrArray *nodes, GError **error) {
        for (guint i = 0; devices->edits && i < devices->edits->len; i++) {
                const CdiEdits *edits = devices->edits->pdata[i];

                for (guint j = 0; j < edits->nodes->len; j++)
                        if (!add_node(edits->nodes->pdata[j], uid, gid, nodes, error))
                                return false;
        }
        return true;
}

/*
 * The rest
 */

static const char *last_option(const CdiMount *mount) {
        static const char *const binds[] = { "bind", "rbind", NULL };

        for (guint i = 0; i < mount->options->len; i++)
                if (g_strv_contains(binds, mount->options->pdata[i]))
                        return NULL;
        return "rbind";
}

static OciMount *make_mount(const CdiMount *wanted) {
        bool is_bind = !wanted->type || g_str_equal(wanted->type, "bind") || g_str_equal(wanted->type, "none");
        const char *last = is_bind ? last_option(wanted) : NULL;
        OciMount *mount = g_new0(OciMount, 1);

        mount->source = g_strdup(wanted->host_path);
        mount->destination = path_value_clean(wanted->path);
        mount->type = g_strdup(is_bind ? "bind" : wanted->type);
        mount->options = g_new0(char *, wanted->options->len + 2);
        for (guint i = 0; i < wanted->options->len; i++)
                mount->options[mount->options_len++] = g_strdup(wanted->options->pdata[i]);
        if (last)
                mount->options[mount->options_len++] = g_strdup(last);
        return mount;
}

static void add_gids(runtime_spec_schema_config_schema_process_user *user, const GArray *gids) {
        for (guint i = 0; i < gids->len; i++) {
                user->additional_gids = g_renew(gid_t, user->additional_gids, user->additional_gids_len + 1);
                user->additional_gids[user->additional_gids_len++] = g_array_index(gids, guint32, i);
        }
}

/* What is mounted there is replaced, as with Podman: it may be of another device, and the same. */
void cdi_devices_apply(const CdiDevices *devices, MountPlan *mounts, Spec *spec) {
        for (guint i = 0; devices->edits && i < devices->edits->len; i++) {
                const CdiEdits *edits = devices->edits->pdata[i];

                for (guint j = 0; j < edits->mounts->len; j++)
                        mount_plan_replace(mounts, make_mount(edits->mounts->pdata[j]));
                mount_plan_print(mounts, spec);
                add_gids(spec->process->user, edits->gids);
        }
}
