/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/path-value.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/payload-args.h"
#include "libstart/oci/spec-mounts.h"
#include "libstart/request/mount-request.h"
#include "libstart/request/secret-request.h"
#include "libstart/request/security-option.h"
#include "libstart/value/id-map.h"

#define DEFAULT_SHM_SIZE "size=65536000" /* what Podman makes of its default, 65536k: thousands */

static void remove_option(OciMount *mount, const char *option) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], option)) {
                        g_free(mount->options[i]);
                        mount->options[i] = mount->options[--mount->options_len];
                        mount->options[mount->options_len] = NULL;
                        return;
                }
}

static bool has_mount(const MountPlan *plan, const char *destination) {
        return mount_plan_find(plan, destination);
}

/* The host's own node, and not one made anew: it is where the container wants it, on whatever file system, and keeps
 * the owner and mode that udev gives it. "ro" so that the container cannot change these for the host; devices are
 * written to all the same. */
static bool add_device(MountPlan *plan, const DeviceNode *node, GError **error) {
        static const char *const options[] = { "bind", "rprivate", "nosuid", "dev", "ro", NULL };

        return mount_plan_check_not_shared(plan, node->destination, "AddDevice= on", error) &&
               mount_plan_add_only(plan, oci_mount_new(node->destination, "bind", node->source, options), error);
}

static bool add_devices(MountPlan *plan, const HostFacts *host, GError **error) {
        for (guint i = 0; host->device_nodes && i < host->device_nodes->len; i++) {
                const DeviceNode *node = host->device_nodes->pdata[i];

                if (!node->is_made && !add_device(plan, node, error))
                        return false;
        }
        return true;
}

static void add_tmpfs(MountPlan *plan, const char *destination) {
        static const char *const options[] = { "rw", "rprivate", "nosuid", "nodev", "tmpcopyup", NULL };

        if (!has_mount(plan, destination))
                mount_plan_add(plan, oci_mount_new(destination, "tmpfs", "tmpfs", options));
}

/* An image's author is not to replace what shows the kernel (CVE-2019-16884). A file may. */
static void add_image_volume(MountPlan *plan, const char *path) {
        if (path_value_is_of_kernel(path))
                g_ptr_array_add(plan->left_out, (char *) path);
        else if (!g_str_equal(path, "/"))
                add_tmpfs(plan, path);
}

/* Where a root that is read-only, or kept, must be written to all the same. One that is neither is as transient as
 * Podman's anonymous volumes are, so it needs no mounts for them nor for the image's. */
static void add_writable_places(MountPlan *plan, const SpecInput *input) {
        const GPtrArray *requests = input->request->mounts;

        for (guint i = 0; i < requests->len && (input->request->read_only || input->root_is_kept); i++)
                if (mount_request_is_anonymous(requests->pdata[i]))
                        add_tmpfs(plan, ((const MountRequest *) requests->pdata[i])->destination);
        if (input->request->image_volumes == IMAGE_VOLUMES_TMPFS ||
            (input->request->read_only && input->request->image_volumes == IMAGE_VOLUMES_ANONYMOUS))
                for (size_t i = 0; input->image->volumes && input->image->volumes[i]; i++)
                        add_image_volume(plan, input->image->volumes[i]);
        if (input->request->read_only && input->request->read_only_tmpfs) {
                add_tmpfs(plan, "/run");
                add_tmpfs(plan, "/tmp");
                add_tmpfs(plan, "/var/tmp");
        }
}

/* With a read-only root the generated files are as podman has them: read-only themselves. */
static void add_files(MountPlan *plan, const SpecInput *input) {
        static const char *const restrictions[] = { "ro", "nosuid", "noexec", "nodev" };

        for (guint i = 0; input->file_mounts && i < input->file_mounts->len; i++) {
                const MountRequest *request = input->file_mounts->pdata[i];

                if (has_mount(plan, request->destination))
                        continue;

                OciMount *mount = oci_mount_new_requested(request, NULL);
                for (size_t j = 0; j < G_N_ELEMENTS(restrictions) && input->request->read_only; j++)
                        oci_mount_add_option(mount, restrictions[j]);
                mount_plan_add(plan, mount);
        }
}

static bool check_secret(const MountPlan *plan, const SecretFile *file, GError **error) {
        const ContainerMount *other = mount_plan_find(plan, file->destination) ?: mount_plan_find_shared(plan);

        return !other || secret_request_refuse_beside(file->destination, other->oci->destination, error);
}

static bool add_secrets(MountPlan *plan, const SpecInput *input, GError **error) {
        static const char *const options[] = { "bind", "ro", "nosuid", "nodev", "noexec", "rprivate", NULL };

        for (guint i = 0; input->secret_files && i < input->secret_files->len; i++) {
                const SecretFile *file = input->secret_files->pdata[i];

                if (!check_secret(plan, file, error))
                        return false;
                mount_plan_add(plan, oci_mount_new(file->destination, "bind", file->source, options));
        }
        return true;
}

/* One that other containers have, too. */
static void add_shared_shm(MountPlan *plan, const ContainerRequest *request) {
        static const char *const options[] = { "bind", "nosuid", "noexec", "nodev", "rprivate", NULL };
        bool read_only = request->read_only && !request->read_only_tmpfs;
        OciMount *mount;

        if (!request->shm_path || has_mount(plan, "/dev/shm"))
                return;
        mount = oci_mount_new("/dev/shm", "bind", request->shm_path, options);
        if (read_only)
                oci_mount_add_option(mount, "ro");
        mount_plan_add(plan, mount);
}

static void add_shm_size(OciMount *mount, gint64 size) {
        g_autofree char *option = size < 0 ? g_strdup(DEFAULT_SHM_SIZE) :
                                             g_strdup_printf("size=%" G_GINT64_FORMAT, size); /* 0: no limit */

        oci_mount_add_option(mount, option);
}

/* Podman's rule for /sys/fs/cgroup, which is read-only by default: it knows no patterns, and ALL only as the first
 * one. */
static bool is_cgroup_unmasked(const GPtrArray *unmasked) {
        if (unmasked->len > 0 && g_str_equal(unmasked->pdata[0], SECURITY_UNMASK_ALL))
                return true;
        for (guint i = 0; i < unmasked->len; i++) {
                g_autofree char *clean = path_value_clean(unmasked->pdata[i]);

                if (g_str_equal(clean, "/sys/fs/cgroup"))
                        return true;
        }
        return false;
}

/* Where the group of terminals is none of the container's, they are its root's. */
static void drop_terminal_group(OciMount *mount, const GArray *gid_map) {
        const char *last = mount->options[mount->options_len - 1];
        guint32 gid;

        if (g_str_has_prefix(last, "gid=") &&
            !id_map_outside(gid_map, (guint32) g_ascii_strtoull(last + strlen("gid="), NULL, 10), &gid))
                g_free(g_steal_pointer(&mount->options[--mount->options_len]));
}

/* --read-only-tmpfs=false takes away what is writable by default: /dev and /dev/shm too. */
static OciMount *make_default(const KernelMount *wanted, const SpecInput *input) {
        const ContainerRequest *request = input->request;
        const char *destination = wanted->destination;
        bool read_only = request->read_only && !request->read_only_tmpfs, shm = g_str_equal(destination, "/dev/shm");
        OciMount *mount = oci_mount_new(destination, wanted->type, wanted->source, wanted->options);

        if (input->gid_map && g_str_equal(wanted->type, "devpts"))
                drop_terminal_group(mount, input->gid_map);
        if (shm)
                add_shm_size(mount, request->shm_size);
        if (request->privileged)
                remove_option(mount, "ro");
        else if (g_str_equal(destination, "/sys/fs/cgroup") && !input->payload->is_systemd &&
                 !is_cgroup_unmasked(request->unmasked))
                oci_mount_add_option(mount, "ro");
        if (read_only && (shm || g_str_equal(destination, "/dev")))
                oci_mount_add_option(mount, "ro");
        return mount;
}

/* Nobody but root mounts a sysfs that shows the host's network. */
static void add_hosts_sys(MountPlan *plan, const SpecInput *input) {
        static const char *const options[] = { "rbind", "rprivate", "nosuid", "noexec", "nodev", "ro", NULL };

        if (input->host->is_users_view && input->request->network.mode == NETWORK_HOST && !has_mount(plan, "/sys"))
                mount_plan_add(plan, oci_mount_new("/sys", "bind", "/sys", options));
}

/* On the host's /dev the host's message queues are there already. */
static bool has_queues(const MountPlan *plan, const SpecInput *input, const char *destination) {
        const ContainerMount *dev = mount_plan_find(plan, "/dev");

        return input->request->ipc.host && g_str_equal(destination, "/dev/mqueue") && dev &&
               g_strcmp0(dev->oci->source, "/dev") == 0;
}

static void add_defaults(MountPlan *plan, const SpecInput *input) {
        add_hosts_sys(plan, input);
        for (size_t i = 0; i < N_KERNEL_MOUNTS; i++)
                if (!has_mount(plan, kernel_mounts[i].destination) &&
                    !has_queues(plan, input, kernel_mounts[i].destination))
                        mount_plan_add_default(plan, make_default(&kernel_mounts[i], input));
}

/* Nobody but root makes device nodes. */
static void add_nodes(MountPlan *plan, const SpecInput *input) {
        static const char *const nodes[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                             "/dev/random", "/dev/urandom", "/dev/tty" };
        static const char *const options[] = { "bind", "rprivate", "nosuid", "noexec", NULL };

        for (size_t i = 0; input->host->is_users_view && i < G_N_ELEMENTS(nodes); i++)
                if (!has_mount(plan, nodes[i]))
                        mount_plan_add(plan, oci_mount_new(nodes[i], "bind", nodes[i], options));
}

/* What systemd wants to find empty and writable. */
static void add_places_of_init(MountPlan *plan, const SpecInput *input) {
        static const char *const places[] = { "/run", "/run/lock", "/tmp", "/var/log/journal" };

        for (size_t i = 0; input->payload->is_systemd && i < G_N_ELEMENTS(places); i++)
                add_tmpfs(plan, places[i]);
}

/* Nobody writes to the host's program through it, nor through /proc/1/exe. */
static void add_init_program(MountPlan *plan, const SpecInput *input) {
        static const char *const options[] = { "bind", "ro", "nosuid", "nodev", "rprivate", NULL };

        if (input->init_program && !has_mount(plan, INIT_INSIDE))
                mount_plan_add(plan, oci_mount_new(INIT_INSIDE, "bind", input->init_program, options));
}

/* For a payload that labels files itself: the policy's file system, which is masked in other containers. */
static void add_selinux(MountPlan *plan, const SpecInput *input) {
        static const char *const options[] = { "bind", "rprivate", "nosuid", "noexec", NULL };

        if (input->labels && input->labels->file && input->request->label.nested &&
            !has_mount(plan, "/sys/fs/selinux"))
                mount_plan_add(plan, oci_mount_new("/sys/fs/selinux", "bind", "/sys/fs/selinux", options));
}

/* Read-only: nobody changes the host's inode through it, and everybody may still write to the socket. */
static void add_notify_socket(MountPlan *plan, const SpecInput *input) {
        static const char *const options[] = { "bind", "ro", "nosuid", "nodev", "noexec", "rprivate", NULL };

        if (input->notify_socket && !has_mount(plan, NOTIFY_SOCKET_INSIDE))
                mount_plan_add(plan, oci_mount_new(NOTIFY_SOCKET_INSIDE, "bind", input->notify_socket, options));
}

static void mark_volume(const MountPlan *plan, const char *path) {
        ContainerMount *mount = mount_plan_find(plan, path);

        if (mount)
                mount->is_volume = g_str_equal(mount->oci->type, "tmpfs");
}

/* Also where the tmpfs is there for another reason. IMAGE_VOLUMES_TMPFS: they are root's, as with Podman. */
static void mark_volumes(const MountPlan *plan, const SpecInput *input) {
        const GPtrArray *requests = input->request->mounts;
        char *const *volumes = input->request->image_volumes == IMAGE_VOLUMES_TMPFS ? NULL : input->image->volumes;

        for (; volumes && *volumes; volumes++)
                mark_volume(plan, *volumes);
        for (guint i = 0; i < requests->len; i++)
                if (mount_request_is_anonymous(requests->pdata[i]))
                        mark_volume(plan, ((const MountRequest *) requests->pdata[i])->destination);
}

static void give_tmpfs(ContainerMount *mount, const UserIdentity *user) {
        g_autofree char *uid = g_strdup_printf("uid=%u", user->uid), *gid = g_strdup_printf("gid=%u", user->gid);

        oci_mount_add_option(mount->oci, uid);
        oci_mount_add_option(mount->oci, gid);
}

/* It is mounted in the container's user namespace, by its ids. Of volumes, whose files are there already, others do
 * it. */
static void add_owners(MountPlan *plan, const UserIdentity *user) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                const MountRequest *request = plan->mounts[i]->request;

                if (request && request->type == MOUNT_TMPFS && request->chown)
                        give_tmpfs(plan->mounts[i], user);
        }
}

MountPlan *spec_plan_mounts(const SpecInput *input, GError **error) {
        g_autoptr(MountPlan) plan = mount_plan_new();

        if (!mount_plan_add_requests(plan, input->request->mounts, input->volumes, error) ||
            !add_devices(plan, input->host, error) || !add_secrets(plan, input, error))
                return NULL;
        add_owners(plan, input->user);
        add_places_of_init(plan, input);
        add_writable_places(plan, input);
        add_files(plan, input);
        add_notify_socket(plan, input);
        add_init_program(plan, input);
        add_selinux(plan, input);
        add_shared_shm(plan, input->request);
        add_defaults(plan, input);
        add_nodes(plan, input);
        mark_volumes(plan, input);
        mount_plan_sort(plan);
        return g_steal_pointer(&plan);
}
