/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fnmatch.h>
#include <string.h>
#include <sys/mount.h>

#include "libstart/base/path-value.h"
#include "libstart/oci/spec-linux.h"
#include "libstart/request/security-option.h"
#include "libstart/value/id-map.h"
#include "libstart/value/sysctl.h"

typedef runtime_spec_schema_config_schema Spec;
typedef runtime_spec_schema_defs_linux_namespace_reference Namespace;
typedef runtime_spec_schema_defs_linux_device Device;

static void add_namespace(runtime_spec_schema_config_linux *linux_, const char *type, const char *path) {
        Namespace *ns = g_new0(Namespace, 1);

        ns->type = g_strdup(type);
        ns->path = g_strdup(path);
        linux_->namespaces[linux_->namespaces_len++] = ns;
}

static void add_namespaces(runtime_spec_schema_config_linux *linux_, const SpecInput *input) {
        const struct {
                const char *type;
                NamespaceChoice choice;
        } all[] = {
                { "pid", input->request->pid },
                { "ipc", input->request->ipc },
                { "uts", input->request->uts },
                { "mount" },
                { "cgroup" },
        };

        linux_->namespaces = g_new0(Namespace *, G_N_ELEMENTS(all) + 2);
        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (!all[i].choice.host)
                        add_namespace(linux_, all[i].type, all[i].choice.path);
        if (input->request->network.mode != NETWORK_HOST)
                add_namespace(linux_, "network", input->network_path);
}

static runtime_spec_schema_defs_id_mapping **make_mappings(const GArray *map, size_t *ret_length) {
        runtime_spec_schema_defs_id_mapping **mappings = g_new0(typeof(*mappings), map->len + 1);

        for (guint i = 0; i < map->len; i++) {
                const IdExtent *extent = &g_array_index(map, IdExtent, i);

                mappings[i] = g_new0(typeof(**mappings), 1);
                mappings[i]->container_id = extent->inside;
                mappings[i]->host_id = extent->outside;
                mappings[i]->size = extent->count;
                mappings[i]->container_id_present = mappings[i]->host_id_present = mappings[i]->size_present = true;
        }
        *ret_length = map->len;
        return mappings;
}

static void add_user_namespace(runtime_spec_schema_config_linux *linux_, const SpecInput *input) {
        if (!input->uid_map)
                return;
        add_namespace(linux_, "user", input->userns_path);
        linux_->uid_mappings = make_mappings(input->uid_map, &linux_->uid_mappings_len);
        linux_->gid_mappings = make_mappings(input->gid_map, &linux_->gid_mappings_len);
}

static void add_sysctls(runtime_spec_schema_config_linux *linux_, const ContainerRequest *request) {
        bool is_new = request->network.mode == NETWORK_NONE;

        if (request->sysctls->len == 0 && !is_new)
                return;
        linux_->sysctl = g_new0(json_map_string_string, 1);
        /* As Podman ships it: everyone in the container may ping. */
        if (is_new)
                append_json_map_string_string(linux_->sysctl, "net.ipv4.ping_group_range", "0 0");
        for (guint i = 0; i < request->sysctls->len; i++) {
                const Sysctl *sysctl = request->sysctls->pdata[i];

                append_json_map_string_string(linux_->sysctl, sysctl->name, sysctl->value);
        }
}

/* A mount that is to see the host's later mounts needs a root that does: podman's choice. */
static const char *find_propagation(const MountPlan *mounts) {
        unsigned long flags = 0;

        for (guint i = 0; i < mounts->n_mounts; i++)
                flags |= mounts->mounts[i]->flags;
        return flags & MS_SHARED ? "shared" : flags & MS_SLAVE ? "rslave" : NULL;
}

/* What is hidden from a container, and what it cannot write: Podman's lists, without what the file unmasks, and what
 * it masks itself. */

#define SELINUX_DIRECTORY "/sys/fs/selinux"

static const char *const masked_paths[] = {
        "/proc/acpi",          "/proc/interrupts",
        "/proc/kcore",         "/proc/keys",
        "/proc/latency_stats", "/proc/sched_debug",
        "/proc/scsi",          "/proc/timer_list",
        "/proc/timer_stats",   "/sys/devices/virtual/powercap",
        "/sys/firmware",       SELINUX_DIRECTORY,
};

static const char *const readonly_paths[] = {
        "/proc/asound", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static bool is_unmasked(const char *path, const GPtrArray *patterns) {
        for (guint i = 0; i < patterns->len; i++)
                if (g_ascii_strcasecmp(patterns->pdata[i], SECURITY_UNMASK_ALL) == 0 ||
                    fnmatch(patterns->pdata[i], path, FNM_PATHNAME) == 0)
                        return true;
        return false;
}

static void add_path(GPtrArray *paths, const char *path, const GPtrArray *unmasked) {
        if (!is_unmasked(path, unmasked))
                g_ptr_array_add(paths, g_strdup(path));
}

/* Takes ownership of the list; NULL for an empty one. */
static char **take_list(GPtrArray *paths, size_t *ret_length) {
        *ret_length = paths->len;
        g_ptr_array_add(paths, NULL);
        return (char **) g_ptr_array_free(paths, *ret_length == 0);
}

/* A user's container without a network of its own has the host's /sys, and what is mounted below (spec-mounts.c). */
static bool has_hosts_sys(const SpecInput *input) {
        return input->host->is_users_view && input->request->network.mode == NETWORK_HOST;
}

static void add_masked(runtime_spec_schema_config_linux *linux_, const SpecInput *input) {
        const GPtrArray *own = input->request->masked, *unmasked = input->request->unmasked;
        char *const *throttle = input->host->thermal_throttle;
        bool is_nested = input->request->label.nested;
        GPtrArray *paths = g_ptr_array_new();

        for (size_t i = 0; i < G_N_ELEMENTS(masked_paths) && !input->request->privileged; i++)
                if (!is_nested || !g_str_equal(masked_paths[i], SELINUX_DIRECTORY))
                        add_path(paths, masked_paths[i], unmasked);
        if (has_hosts_sys(input) && !input->request->privileged) /* whatever the file unmasks, as Podman has it */
                g_ptr_array_add(paths, g_strdup("/sys/kernel"));
        for (; throttle && *throttle && !input->request->privileged; throttle++)
                add_path(paths, *throttle, unmasked);
        for (guint i = 0; i < own->len; i++)
                g_ptr_array_add(paths, path_value_clean(own->pdata[i]));
        linux_->masked_paths = take_list(paths, &linux_->masked_paths_len);
}

static void add_read_only(runtime_spec_schema_config_linux *linux_, const GPtrArray *unmasked) {
        GPtrArray *paths = g_ptr_array_new();

        for (size_t i = 0; i < G_N_ELEMENTS(readonly_paths); i++)
                add_path(paths, readonly_paths[i], unmasked);
        linux_->readonly_paths = take_list(paths, &linux_->readonly_paths_len);
}

static Device *make_device(const DeviceNode *node) {
        Device *device = g_new0(Device, 1);

        device->path = g_strdup(node->destination);
        device->type = g_strndup(&node->type, 1);
        device->major = node->major;
        device->minor = node->minor;
        device->file_mode = (int) node->mode;
        device->uid = node->uid;
        device->gid = node->gid;
        device->major_present = device->minor_present = device->file_mode_present = true;
        device->uid_present = device->gid_present = true;
        return device;
}

/* Those that are made anew. The others are mounts. */
static void add_devices(runtime_spec_schema_config_linux *linux_, const GPtrArray *nodes) {
        for (guint i = 0; nodes && i < nodes->len; i++) {
                const DeviceNode *node = nodes->pdata[i];

                if (!node->is_made)
                        continue;
                linux_->devices = g_renew(Device *, linux_->devices, linux_->devices_len + 1);
                linux_->devices[linux_->devices_len++] = make_device(node);
        }
}

static bool check_not_shared(const MountPlan *mounts, char **paths, size_t n, const char *what, GError **error) {
        for (size_t i = 0; i < n; i++)
                if (!mount_plan_check_not_shared(mounts, paths[i], what, error))
                        return false;
        return true;
}

bool spec_add_linux(Spec *spec, const SpecInput *input, const MountPlan *mounts, GError **error) {
        runtime_spec_schema_config_linux *linux_ = g_new0(runtime_spec_schema_config_linux, 1);

        spec->linux = linux_;
        add_namespaces(linux_, input);
        add_user_namespace(linux_, input);
        add_masked(linux_, input);
        if (!input->request->privileged)
                add_read_only(linux_, input->request->unmasked);
        add_devices(linux_, input->host->device_nodes);
        linux_->mount_label = input->labels ? g_strdup(input->labels->file) : NULL;
        linux_->rootfs_propagation = g_strdup(find_propagation(mounts));
        add_sysctls(linux_, input->request);
        return !mount_plan_find_shared(mounts) ||
               (check_not_shared(mounts, linux_->masked_paths, linux_->masked_paths_len, "Masked path", error) &&
                check_not_shared(mounts, linux_->readonly_paths, linux_->readonly_paths_len, "Read-only path",
                                 error));
}
