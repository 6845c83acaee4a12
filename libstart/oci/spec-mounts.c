/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/path-value.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/payload-args.h"
#include "libstart/oci/spec-mounts.h"
#include "libstart/option/device-request.h"
#include "libstart/option/id-map.h"
#include "libstart/option/mount-request.h"
#include "libstart/option/security-option.h"

typedef runtime_spec_schema_defs_mount Mount;

typedef enum Propagation {
        PROPAGATION_INHERITED, /* of what the mount lies on */
        PROPAGATION_SHARED,
        PROPAGATION_OWN,
} Propagation;

static Propagation find_propagation(const Mount *mount) {
        static const char *const shared[] = { "shared", "rshared", NULL };
        static const char *const own[] = {
                "private", "rprivate", "slave", "rslave", "unbindable", "runbindable", NULL
        };

        for (size_t i = 0; i < mount->options_len; i++) {
                /* The host has no part in a tmpfs but by what that lies on. */
                if (g_strv_contains(shared, mount->options[i]))
                        return g_strcmp0(mount->type, "bind") == 0 ? PROPAGATION_SHARED : PROPAGATION_INHERITED;
                if (g_strv_contains(own, mount->options[i]))
                        return PROPAGATION_OWN;
        }
        return PROPAGATION_INHERITED;
}

/* The innermost mount above the path that has a propagation of its own. */
static const Mount *find_deciding(Mount *const *mounts, size_t length, const char *path) {
        const Mount *found = NULL;

        for (size_t i = 0; i < length; i++)
                if (path_value_covers(mounts[i]->destination, path) &&
                    find_propagation(mounts[i]) != PROPAGATION_INHERITED &&
                    (!found || path_value_covers(found->destination, mounts[i]->destination)))
                        found = mounts[i];
        return found;
}

bool spec_check_not_shared(Mount *const *mounts, size_t length, const char *path, const char *what, GError **error) {
        g_autofree char *clean = path_value_clean(path);
        const Mount *mount = find_deciding(mounts, length, clean);

        return !mount || find_propagation(mount) != PROPAGATION_SHARED ||
               error_set(
                       error, KT_ERROR_USAGE,
                       "%s '%s': the mount on '%s' shares what is mounted in it with the host, where this would be "
                       "mounted, too, and stay: give that mount private or slave propagation (rprivate, rslave), or "
                       "choose another path",
                       what, path, mount->destination);
}

/* The mounts of every container. A mount of the user's on the same place replaces one of them. */
static const struct {
        const char *destination, *type, *source;
        const char *options[8];
} defaults[] = {
        { "/proc", "proc", "proc", { "nosuid", "noexec", "nodev" } },
        { "/dev", "tmpfs", "tmpfs", { "nosuid", "strictatime", "mode=755", "size=65536k" } },
        { "/sys", "sysfs", "sysfs", { "nosuid", "noexec", "nodev", "ro" } },
        { "/dev/pts",
          "devpts",
          "devpts",
          { "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5" } },
        { "/dev/mqueue", "mqueue", "mqueue", { "nosuid", "noexec", "nodev" } },
        { "/dev/shm", "tmpfs", "shm", { "nosuid", "noexec", "nodev", "mode=1777" } },
        { "/sys/fs/cgroup", "cgroup", "cgroup", { "rprivate", "nosuid", "noexec", "nodev", "relatime" } },
};

#define DEFAULT_SHM_SIZE "size=65536000" /* what Podman makes of its default, 65536k: thousands */

/* The mounts being collected: the defaults that nothing else lies on or below, then the others in the order in which
 * they were asked for. */
typedef struct MountList {
        GPtrArray *mounts;        /* of Mount* */
        guint n_first;            /* those defaults */
        GHashTable *destinations; /* of those: destination -> Mount*, neither owned */
} MountList;

static void free_mount(void *mount) {
        free_runtime_spec_schema_defs_mount(mount);
}

static void mount_list_clear(MountList *list) {
        g_clear_pointer(&list->destinations, g_hash_table_unref);
        g_clear_pointer(&list->mounts, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MountList, mount_list_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mount, free_runtime_spec_schema_defs_mount)

static Mount *make_mount(const char *destination, const char *type, const char *source, const char *const *options) {
        Mount *mount = g_new0(Mount, 1);

        mount->destination = g_strdup(destination);
        mount->type = g_strdup(type);
        mount->source = g_strdup(source);
        mount->options = g_strdupv((char **) options);
        mount->options_len = options ? g_strv_length(mount->options) : 0;
        return mount;
}

static void add_option(Mount *mount, const char *option) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], option))
                        return;
        mount->options = g_renew(char *, mount->options, mount->options_len + 2);
        mount->options[mount->options_len++] = g_strdup(option);
        mount->options[mount->options_len] = NULL;
}

/* A mount of something read-only is read-only, whatever was asked for: a remount for another flag would lift that. */
static void make_read_only(Mount *mount) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], "rw")) {
                        g_free(mount->options[i]);
                        mount->options[i] = g_strdup("ro");
                        return;
                }
        add_option(mount, "ro");
}

static void remove_option(Mount *mount, const char *option) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], option)) {
                        g_free(mount->options[i]);
                        mount->options[i] = mount->options[--mount->options_len];
                        mount->options[mount->options_len] = NULL;
                        return;
                }
}

static bool has_mount(const MountList *list, const char *destination) {
        return g_hash_table_contains(list->destinations, destination);
}

/* Takes ownership of mount. */
static void add_mount(MountList *list, Mount *mount) {
        g_ptr_array_add(list->mounts, mount);
        g_hash_table_insert(list->destinations, mount->destination, mount);
}

static Mount *make_requested(const MountRequest *request, const char *volumes) {
        g_autofree char *volume = request->type == MOUNT_VOLUME ?
                                          g_build_filename(volumes, request->source, "_data", NULL) :
                                          NULL;
        Mount *mount = NULL;

        switch (request->type) {
        case MOUNT_BIND:
        case MOUNT_VOLUME:
        case MOUNT_IMAGE:
        case MOUNT_GLOB: /* until it has been expanded */
                mount = make_mount(request->destination, "bind", volume ?: request->source, NULL);
                break;
        case MOUNT_TMPFS:
                mount = make_mount(request->destination, "tmpfs", "tmpfs", NULL);
                break;
        case MOUNT_RAMFS:
                mount = make_mount(request->destination, "ramfs", "ramfs", NULL);
                break;
        case MOUNT_DEVPTS:
                mount = make_mount(request->destination, "devpts", "devpts", NULL);
                break;
        }
        for (guint i = 0; i < request->options->len; i++)
                add_option(mount, request->options->pdata[i]);
        return mount;
}

static bool is_same(const Mount *a, const Mount *b) {
        if (!g_str_equal(a->type, b->type) || !g_str_equal(a->source, b->source) || a->options_len != b->options_len)
                return false;
        for (size_t i = 0; i < a->options_len; i++)
                if (!g_str_equal(a->options[i], b->options[i]))
                        return false;
        return true;
}

/* Takes ownership of mount. */
static bool add_unique(MountList *list, Mount *mount, GError **error) {
        g_autoptr(Mount) owned = mount;
        const Mount *other = g_hash_table_lookup(list->destinations, mount->destination);

        if (!other)
                add_mount(list, g_steal_pointer(&owned));
        else if (!is_same(other, mount))
                return error_set(error, KT_ERROR_USAGE, "Two different mounts are to be on '%s': leave one out",
                                 mount->destination);
        return true;
}

static bool is_anonymous(const MountRequest *request) {
        return request->type == MOUNT_VOLUME && !request->source;
}

static bool add_request(MountList *list, const MountRequest *request, const SpecInput *input, GError **error) {
        if (is_anonymous(request))
                return true;
        return add_unique(list, make_requested(request, input->volumes), error);
}

static bool add_requests(MountList *list, const SpecInput *input, GError **error) {
        const GPtrArray *requests = input->request->mounts;

        for (guint i = 0; i < requests->len; i++)
                if (!add_request(list, requests->pdata[i], input, error))
                        return false;
        return true;
}

/* The host's own node, and not one made anew: it is where the container wants it, on whatever file system, and keeps
 * the owner and mode that udev gives it. "ro" so that the container cannot change these for the host; devices are
 * written to all the same. */
static bool add_device(MountList *list, const DeviceNode *node, GError **error) {
        static const char *const options[] = { "bind", "rprivate", "nosuid", "dev", "ro", NULL };

        return spec_check_not_shared((Mount **) list->mounts->pdata, list->mounts->len, node->destination,
                                     "AddDevice= on", error) &&
               add_unique(list, make_mount(node->destination, "bind", node->source, options), error);
}

static bool add_devices(MountList *list, const HostFacts *host, GError **error) {
        for (guint i = 0; host->device_nodes && i < host->device_nodes->len; i++) {
                const DeviceNode *node = host->device_nodes->pdata[i];

                if (!node->is_made && !add_device(list, node, error))
                        return false;
        }
        return true;
}

static void add_tmpfs(MountList *list, const char *destination) {
        static const char *const options[] = { "rw", "rprivate", "nosuid", "nodev", "tmpcopyup", NULL };

        if (!has_mount(list, destination))
                add_mount(list, make_mount(destination, "tmpfs", "tmpfs", options));
}

/* What is mounted there by default shows the kernel, and hides and protects it: an image's author is not to replace it
 * (CVE-2019-16884). A file may, as it may do without the protection. */
static bool is_of_kernel(const char *path) {
        return path_value_covers("/proc", path) || path_value_covers("/sys", path) || path_value_covers("/dev", path);
}

static void add_image_volume(MountList *list, const char *path) {
        if (is_of_kernel(path))
                log_notice("The image's VOLUME '%s' is left out: what is there in every container stays", path);
        else if (!g_str_equal(path, "/"))
                add_tmpfs(list, path);
}

/* Where a root that is read-only, or kept, must be written to all the same. One that is neither is as transient as Podman's
 * anonymous volumes are, so it needs no mounts for them nor for the image's. */
static void add_writable_places(MountList *list, const SpecInput *input) {
        const GPtrArray *requests = input->request->mounts;

        for (guint i = 0; i < requests->len && (input->request->read_only || input->root_is_kept); i++)
                if (is_anonymous(requests->pdata[i]))
                        add_tmpfs(list, ((const MountRequest *) requests->pdata[i])->destination);
        if (input->request->image_volumes == IMAGE_VOLUMES_TMPFS ||
            (input->request->read_only && input->request->image_volumes == IMAGE_VOLUMES_ANONYMOUS))
                for (size_t i = 0; input->image->volumes && input->image->volumes[i]; i++)
                        add_image_volume(list, input->image->volumes[i]);
        if (input->request->read_only && input->request->read_only_tmpfs) {
                add_tmpfs(list, "/run");
                add_tmpfs(list, "/tmp");
                add_tmpfs(list, "/var/tmp");
        }
}

/* With a read-only root the generated files are as podman has them: read-only themselves. */
static void add_files(MountList *list, const SpecInput *input) {
        static const char *const restrictions[] = { "nosuid", "noexec", "nodev" };

        for (guint i = 0; input->file_mounts && i < input->file_mounts->len; i++) {
                const MountRequest *request = input->file_mounts->pdata[i];

                if (has_mount(list, request->destination))
                        continue;

                Mount *mount = make_requested(request, NULL);
                if (input->request->read_only) {
                        make_read_only(mount);
                        for (size_t j = 0; j < G_N_ELEMENTS(restrictions); j++)
                                add_option(mount, restrictions[j]);
                }
                add_mount(list, mount);
        }
}

static bool is_default_or_above(const char *path) {
        for (size_t i = 0; i < G_N_ELEMENTS(defaults); i++)
                if (path_value_covers(path, defaults[i].destination))
                        return true;
        return false;
}

/* Where any mount is shared with the host, a link of the image's could lead there, and the host, and other containers,
 * would have the secret. */
static bool check_secret(const MountList *list, const SecretFile *file, GError **error) {
        const char *path = file->destination;

        if (path_value_covers("/proc", path) || path_value_covers("/sys", path) || is_default_or_above(path))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "Secret= (--secret): no file can be on '%s', where the kernel shows something: choose "
                        "another target",
                        path);
        if (has_mount(list, path))
                return error_set(error, KT_ERROR_USAGE,
                                 "Secret= (--secret): another mount is on its target '%s': remove one of the two",
                                 path);
        for (guint i = 0; i < list->mounts->len; i++)
                if (find_propagation(list->mounts->pdata[i]) == PROPAGATION_SHARED)
                        return error_set(
                                error, KT_ERROR_USAGE,
                                "Secret= (--secret): the mount on '%s' shares what is mounted in it with the "
                                "host, and the secret could come there: give that mount slave propagation "
                                "(rslave), or the secret type=env",
                                ((const Mount *) list->mounts->pdata[i])->destination);
        return true;
}

static bool add_secrets(MountList *list, const SpecInput *input, GError **error) {
        static const char *const options[] = { "bind", "ro", "nosuid", "nodev", "noexec", "rprivate", NULL };

        for (guint i = 0; input->secret_files && i < input->secret_files->len; i++) {
                const SecretFile *file = input->secret_files->pdata[i];

                if (!check_secret(list, file, error))
                        return false;
                add_mount(list, make_mount(file->destination, "bind", file->source, options));
        }
        return true;
}

/* One that other containers have, too. */
static void add_shared_shm(MountList *list, const ContainerRequest *request) {
        static const char *const options[] = { "bind", "nosuid", "noexec", "nodev", "rprivate", NULL };
        bool read_only = request->read_only && !request->read_only_tmpfs;
        Mount *mount;

        if (!request->shm_path || has_mount(list, "/dev/shm"))
                return;
        mount = make_mount("/dev/shm", "bind", request->shm_path, options);
        if (read_only)
                add_option(mount, "ro");
        add_mount(list, mount);
}

static void add_shm_size(Mount *mount, gint64 size) {
        g_autofree char *option = size < 0 ? g_strdup(DEFAULT_SHM_SIZE) :
                                             g_strdup_printf("size=%" G_GINT64_FORMAT, size); /* 0: no limit */

        add_option(mount, option);
}

/* Podman's rule for /sys/fs/cgroup, which is read-only by default: it knows no patterns, and ALL only as the first one. */
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

/* A default below a mount that was asked for must be mounted after that, not among the first. */
static bool is_below_request(const MountList *list, const char *destination) {
        for (guint i = list->n_first; i < list->mounts->len; i++) {
                const char *above = ((const Mount *) list->mounts->pdata[i])->destination;

                if (g_str_has_prefix(destination, above) && destination[strlen(above)] == '/')
                        return true;
        }
        return false;
}

/* The defaults come first where that is possible: libstart makes the first mounts itself, up to one that it does not
 * know. */
static void add_default(MountList *list, Mount *mount) {
        if (is_below_request(list, mount->destination)) {
                add_mount(list, mount);
                return;
        }
        g_ptr_array_insert(list->mounts, (int) list->n_first++, mount);
        g_hash_table_insert(list->destinations, mount->destination, mount);
}

/* Where the group of terminals is none of the container's, they are its root's. */
static void drop_terminal_group(Mount *mount, const GArray *gid_map) {
        const char *last = mount->options[mount->options_len - 1];
        guint32 gid;

        if (g_str_has_prefix(last, "gid=") &&
            !id_map_outside(gid_map, (guint32) g_ascii_strtoull(last + strlen("gid="), NULL, 10), &gid))
                g_free(g_steal_pointer(&mount->options[--mount->options_len]));
}

/* --read-only-tmpfs=false takes away what is writable by default: /dev and /dev/shm too. */
static void add_defaults(MountList *list, const SpecInput *input) {
        const ContainerRequest *request = input->request;
        bool read_only = request->read_only && !request->read_only_tmpfs;

        for (size_t i = 0; i < G_N_ELEMENTS(defaults); i++) {
                const char *destination = defaults[i].destination;
                bool shm = g_str_equal(destination, "/dev/shm");

                if (has_mount(list, destination))
                        continue;

                Mount *mount = make_mount(destination, defaults[i].type, defaults[i].source, defaults[i].options);
                add_default(list, mount);
                if (input->gid_map && g_str_equal(defaults[i].type, "devpts"))
                        drop_terminal_group(mount, input->gid_map);
                if (shm)
                        add_shm_size(mount, request->shm_size);
                if (read_only && (shm || g_str_equal(destination, "/dev")))
                        add_option(mount, "ro");
                if (request->privileged)
                        remove_option(mount, "ro");
                else if (g_str_equal(destination, "/sys/fs/cgroup") && !input->payload->is_systemd &&
                         !is_cgroup_unmasked(request->unmasked))
                        add_option(mount, "ro");
        }
}

/* What systemd wants to find empty and writable. */
static void add_places_of_init(MountList *list, const SpecInput *input) {
        static const char *const places[] = { "/run", "/run/lock", "/tmp", "/var/log/journal" };

        for (size_t i = 0; input->payload->is_systemd && i < G_N_ELEMENTS(places); i++)
                add_tmpfs(list, places[i]);
}

/* Nobody writes to the host's program through it, nor through /proc/1/exe. */
static void add_init_program(MountList *list, const SpecInput *input) {
        static const char *const options[] = { "bind", "ro", "nosuid", "nodev", "rprivate", NULL };

        if (input->init_program && !has_mount(list, INIT_INSIDE))
                add_mount(list, make_mount(INIT_INSIDE, "bind", input->init_program, options));
}

/* For a payload that labels files itself: the policy's file system, which is masked in other containers. */
static void add_selinux(MountList *list, const SpecInput *input) {
        static const char *const options[] = { "bind", "rprivate", "nosuid", "noexec", NULL };

        if (input->labels && input->labels->file && input->request->label.nested &&
            !has_mount(list, "/sys/fs/selinux"))
                add_mount(list, make_mount("/sys/fs/selinux", "bind", "/sys/fs/selinux", options));
}

/* Read-only: nobody changes the host's inode through it, and everybody may still write to the socket. */
static void add_notify_socket(MountList *list, const SpecInput *input) {
        static const char *const options[] = { "bind", "ro", "nosuid", "nodev", "noexec", "rprivate", NULL };

        if (input->notify_socket && !has_mount(list, NOTIFY_SOCKET_INSIDE))
                add_mount(list, make_mount(NOTIFY_SOCKET_INSIDE, "bind", input->notify_socket, options));
}

static guint count_slashes(const char *path) {
        guint n = 0;

        for (; *path; path++)
                n += *path == '/';
        return n;
}

/* A deeper mount is made later: otherwise the one above would hide it. */
static int compare_depth(const void *a, const void *b, void *data) {
        const Mount *const *first = a, *const *second = b;

        return (int) count_slashes((*first)->destination) - (int) count_slashes((*second)->destination);
}

bool spec_add_mounts(runtime_spec_schema_config_schema *spec, const SpecInput *input, GError **error) {
        g_auto(MountList) list = {
                .mounts = g_ptr_array_new_with_free_func(free_mount),
                .destinations = g_hash_table_new(g_str_hash, g_str_equal),
        };

        if (!add_requests(&list, input, error) || !add_devices(&list, input->host, error) ||
            !add_secrets(&list, input, error))
                return false;
        add_places_of_init(&list, input);
        add_writable_places(&list, input);
        add_files(&list, input);
        add_notify_socket(&list, input);
        add_init_program(&list, input);
        add_selinux(&list, input);
        add_shared_shm(&list, input->request);
        add_defaults(&list, input);
        g_qsort_with_data(list.mounts->pdata + list.n_first, (int) (list.mounts->len - list.n_first), sizeof(Mount *),
                          compare_depth, NULL); /* stable */
        spec->mounts_len = list.mounts->len;
        spec->mounts = (Mount **) g_ptr_array_steal(list.mounts, NULL);
        return true;
}
