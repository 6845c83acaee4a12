/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/cdi/cdi-file.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"

#define DEPTH_MAX 16
#define ID_MAX 0xfffffffeU
#define NUMBER_MAX 0xfffffU
#define TIMEOUT_MAX 3600U

static GPtrArray *strings_new(void) {
        return g_ptr_array_new_with_free_func(g_free);
}

static void node_free(void *data) {
        CdiNode *node = data;

        g_free(node->path);
        g_free(node->host_path);
        g_free(node);
}

static void mount_free(void *data) {
        CdiMount *mount = data;

        g_free(mount->host_path);
        g_free(mount->path);
        g_free(mount->type);
        g_ptr_array_unref(mount->options);
        g_free(mount);
}

static void hook_free(void *data) {
        CdiHook *hook = data;

        g_free(hook->stage);
        g_free(hook->program);
        g_ptr_array_unref(hook->args);
        g_ptr_array_unref(hook->env);
        g_free(hook);
}

static CdiEdits *edits_new(void) {
        CdiEdits *edits = g_new0(CdiEdits, 1);

        edits->env = strings_new();
        edits->nodes = g_ptr_array_new_with_free_func(node_free);
        edits->mounts = g_ptr_array_new_with_free_func(mount_free);
        edits->hooks = g_ptr_array_new_with_free_func(hook_free);
        edits->gids = g_array_new(FALSE, FALSE, sizeof(guint32));
        return edits;
}

static void edits_free(CdiEdits *edits) {
        g_ptr_array_unref(edits->env);
        g_ptr_array_unref(edits->nodes);
        g_ptr_array_unref(edits->mounts);
        g_ptr_array_unref(edits->hooks);
        g_array_unref(edits->gids);
        g_free(edits);
}

static void device_free(void *data) {
        CdiDevice *device = data;

        g_free(device->name);
        edits_free(device->edits);
        g_free(device);
}

void cdi_file_free(CdiFile *file) {
        g_free(file->kind);
        edits_free(file->edits);
        g_ptr_array_unref(file->devices);
        g_free(file);
}

static bool read_number(yajl_val value, void *member, GError **error) {
        return json_get_number(value, NUMBER_MAX, member, error);
}

static bool read_id(yajl_val value, void *member, GError **error) {
        return json_get_number(value, ID_MAX, member, error);
}

static bool read_node_type(yajl_val value, void *member, GError **error) {
        const char *text;

        if (!json_get_string(value, &text, error))
                return false;
        if (!g_str_equal(text, "b") && !g_str_equal(text, "c") && !g_str_equal(text, "u"))
                return error_set(error, KT_ERROR_UNSUPPORTED, "'%s' is no type of a device: b or c", text);
        *(char *) member = text[0] == 'b' ? 'b' : 'c';
        return true;
}

static bool read_access(yajl_val value, void *member, GError **error) {
        const char *text;

        if (!json_get_string(value, &text, error))
                return false;
        if (!text[0] || strlen(text) > 3 || text[strspn(text, "rwm")])
                return error_set(error, KT_ERROR_FAILED, "'%s' are no permissions: some of r, w and m", text);
        g_strlcpy(member, text, sizeof((CdiNode *) NULL)->access);
        return true;
}

static bool add_node(yajl_val value, void *object, GError **error) {
        static const JsonKey keys[] = {
                { "path", json_copy_path, offsetof(CdiNode, path) },
                { "hostPath", json_copy_path, offsetof(CdiNode, host_path) },
                { "type", read_node_type, offsetof(CdiNode, type) },
                { "major", read_number, offsetof(CdiNode, major) },
                { "minor", read_number, offsetof(CdiNode, minor) },
                { "fileMode", read_number, offsetof(CdiNode, mode) },
                { "permissions", read_access, offsetof(CdiNode, access) },
                { "uid", read_id, offsetof(CdiNode, uid) },
                { "gid", read_id, offsetof(CdiNode, gid) },
                { 0 },
        };
        CdiNode *node = g_new0(CdiNode, 1);

        g_ptr_array_add(*(GPtrArray **) object, node);
        node->major = node->minor = node->mode = node->uid = node->gid = CDI_NOT_SAID;
        memcpy(node->access, "rwm", sizeof node->access);
        return json_walk_object(value, keys, node, error) &&
               (node->path || error_set(error, KT_ERROR_FAILED, "its path is missing"));
}

static bool add_mount(yajl_val value, void *object, GError **error) {
        static const JsonKey keys[] = {
                { "hostPath", json_copy_path, offsetof(CdiMount, host_path) },
                { "containerPath", json_copy_path, offsetof(CdiMount, path) },
                { "type", json_copy_string, offsetof(CdiMount, type) },
                { "options", json_append_strings, offsetof(CdiMount, options) },
                { 0 },
        };
        CdiMount *mount = g_new0(CdiMount, 1);

        g_ptr_array_add(*(GPtrArray **) object, mount);
        mount->options = strings_new();
        return json_walk_object(value, keys, mount, error) &&
               ((mount->path && mount->host_path) ||
                error_set(error, KT_ERROR_FAILED, "it needs hostPath and containerPath"));
}

static bool read_timeout(yajl_val value, void *member, GError **error) {
        return json_get_number(value, TIMEOUT_MAX, member, error);
}

static bool read_hook_env(yajl_val value, void *object, GError **error) {
        CdiHook *hook = object;

        hook->has_env = true;
        return json_append_strings(value, &hook->env, error);
}

static bool add_hook(yajl_val value, void *object, GError **error) {
        static const JsonKey keys[] = {
                { "hookName", json_copy_string, offsetof(CdiHook, stage) },
                { "path", json_copy_path, offsetof(CdiHook, program) },
                { "args", json_append_strings, offsetof(CdiHook, args) },
                { "env", read_hook_env, 0 },
                { "timeout", read_timeout, offsetof(CdiHook, timeout) },
                { 0 },
        };
        CdiHook *hook = g_new0(CdiHook, 1);

        g_ptr_array_add(*(GPtrArray **) object, hook);
        hook->args = strings_new();
        hook->env = strings_new();
        return json_walk_object(value, keys, hook, error) &&
               ((hook->stage && hook->program) || error_set(error, KT_ERROR_FAILED, "it needs hookName and path"));
}

static bool add_variable(yajl_val value, void *object, GError **error) {
        const char *text;

        if (!json_get_string(value, &text, error))
                return false;
        if (text[0] == '=' || !strchr(text, '='))
                return error_set(error, KT_ERROR_FAILED, "'%s' is no variable: NAME=VALUE", text);
        g_ptr_array_add(*(GPtrArray **) object, g_strdup(text));
        return true;
}

static bool add_gid(yajl_val value, void *object, GError **error) {
        guint64 number;
        guint32 gid;

        if (!json_get_number(value, ID_MAX, &number, error))
                return false;
        gid = (guint32) number;
        if (gid != 0) /* as Podman does: nobody gets into root's group by this */
                g_array_append_val(*(GArray **) object, gid);
        return true;
}

static bool refuse_part(yajl_val value, void *member, GError **error) {
        return error_set(error, KT_ERROR_UNSUPPORTED, "keyturn does not have this part of CDI");
}

static bool read_edits(yajl_val value, void *member, GError **error) {
        static const JsonKey keys[] = {
                { "env", NULL, offsetof(CdiEdits, env), add_variable },
                { "deviceNodes", NULL, offsetof(CdiEdits, nodes), add_node },
                { "mounts", NULL, offsetof(CdiEdits, mounts), add_mount },
                { "hooks", NULL, offsetof(CdiEdits, hooks), add_hook },
                { "additionalGids", NULL, offsetof(CdiEdits, gids), add_gid },
                { "intelRdt", refuse_part, 0 },
                { "netDevices", refuse_part, 0 },
                { 0 },
        };

        return json_walk_object(value, keys, *(CdiEdits **) member, error);
}

static bool add_device(yajl_val value, void *object, GError **error) {
        static const JsonKey keys[] = {
                { "name", json_copy_string, offsetof(CdiDevice, name) },
                { "annotations", NULL, 0 },
                { "containerEdits", read_edits, offsetof(CdiDevice, edits) },
                { 0 },
        };
        CdiDevice *device = g_new0(CdiDevice, 1);

        g_ptr_array_add(*(GPtrArray **) object, device);
        device->edits = edits_new();
        return json_walk_object(value, keys, device, error) &&
               (device->name || error_set(error, KT_ERROR_FAILED, "its name is missing"));
}

static bool read_version(yajl_val value, void *member, GError **error) {
        static const char *const known[] = { "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0",
                                             "0.8.0", "1.0.0", "1.1.0", NULL };
        const char *version;

        if (!json_get_string(value, &version, error))
                return false;
        return g_strv_contains(known, version) ||
               error_set(error, KT_ERROR_UNSUPPORTED, "'%s' is no version of CDI from 0.3.0 to 1.1.0", version);
}

CdiFile *cdi_file_parse(const char *text, gsize length, GError **error) {
        static const JsonKey keys[] = {
                { "cdiVersion", read_version, 0 },
                { "kind", json_copy_string, offsetof(CdiFile, kind) },
                { "annotations", NULL, 0 },
                { "devices", NULL, offsetof(CdiFile, devices), add_device },
                { "containerEdits", read_edits, offsetof(CdiFile, edits) },
                { 0 },
        };
        g_autoptr(CdiFile) file = g_new0(CdiFile, 1);
        g_auto(yajl_val) tree = json_parse(text, length, DEPTH_MAX, error);

        file->edits = edits_new();
        file->devices = g_ptr_array_new_with_free_func(device_free);
        if (!tree || !json_walk_object(tree, keys, file, error))
                return NULL;
        if (!file->kind || !json_member(tree, "cdiVersion", yajl_t_string))
                return error_null(error, KT_ERROR_FAILED, "it needs cdiVersion and kind");
        return g_steal_pointer(&file);
}

const CdiEdits *cdi_file_find(const CdiFile *file, const char *name) {
        for (guint i = 0; i < file->devices->len; i++) {
                const CdiDevice *device = file->devices->pdata[i];

                if (g_str_equal(device->name, name))
                        return device->edits;
        }
        return NULL;
}
