/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/path-value.h"
#include "libstart/option/mount-request.h"
#include "libstart/run/kernel-mounts.h"
#include "libstart/run/prepared-mounts.h"

typedef runtime_spec_schema_config_schema Spec;
typedef runtime_spec_schema_defs_mount Mount;

static void close_fd(void *fd) {
        fd_closep(fd);
}

static const runtime_spec_schema_defs_linux_namespace_reference *find_network(const Spec *spec) {
        for (size_t i = 0; i < spec->linux->namespaces_len; i++)
                if (g_str_equal(spec->linux->namespaces[i]->type, "network"))
                        return spec->linux->namespaces[i];
        return NULL;
}

/* Who may mount /sys is who has the network namespace that it shows. */
static bool is_the_hosts(const Spec *spec, const Mount *mount) {
        return g_str_equal(mount->destination, "/dev") ||
               (g_str_equal(mount->destination, "/sys") && (!find_network(spec) || find_network(spec)->path));
}

static bool enter_network(const char *path, GError **error) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

        return (fd >= 0 && setns(fd, CLONE_NEWNET) == 0) ||
               error_set_errno(error, errno, "Cannot enter the network namespace '%s'", path);
}

/* /sys shows the network namespace of who mounts it. */
static int make_in_network(const char *network, const Mount *mount, const MountLabel *label, GError **error) {
        _cleanup_close_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        int fd;

        if (own < 0) {
                error_set_errno(error, errno, "Cannot open the host's network namespace");
                return -1;
        }
        if (!enter_network(network, error))
                return -1;
        fd = kernel_mount_make_detached(mount, label, error);
        if (setns(own, CLONE_NEWNET) == 0)
                return fd;
        if (fd >= 0) {
                close(fd);
                error_set_errno(error, errno, "Cannot return to the host's network namespace");
        }
        return -1;
}

static int make_kernel_mount(const Spec *spec, const Mount *mount, const MountLabel *label,
                             const UserNamespace *userns, GError **error) {
        const char *network = g_str_equal(mount->destination, "/sys") && find_network(spec) ?
                                      find_network(spec)->path :
                                      NULL;
        int fd = -1;

        if (user_namespace_make_files_for_root(userns, error))
                fd = network ? make_in_network(network, mount, label, error) :
                               kernel_mount_make_detached(mount, label, error);
        user_namespace_make_own_files(userns);
        return fd;
}

bool prepared_mounts_are_needed(const ContainerRequest *request, const UserNamespace *userns) {
        bool needed = userns->uids;

        for (guint i = 0; !needed && i < request->mounts->len; i++)
                needed = ((const MountRequest *) request->mounts->pdata[i])->id_map;
        return needed;
}

static bool prepare_own(const Spec *spec, Mount *mount, const BindMountContext *context, const char *own,
                        const UserNamespace *userns, int *ret, GError **error) {
        if (bind_mount_is_private(mount) && !path_value_covers(own, mount->source))
                *ret = bind_mount_clone(context, mount, error);
        else if (!bind_mount_is_private(mount) && is_the_hosts(spec, mount))
                *ret = make_kernel_mount(spec, mount, &context->label, userns, error);
        else
                return true;
        return *ret >= 0;
}

static bool open_further(Mount *mount, const BindMountContext *context, const char *own, const char *id_map,
                         GArray *opened, GError **error) {
        int fd;

        if (id_map)
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "Cannot mount '%s' on the container's '%s' with 'idmap': a tmpfs, or a mount that is "
                        "shared with the host, has a shorter path, and such come first; mount it at a shorter path",
                        mount->source, mount->destination);
        if (g_strcmp0(mount->type, "bind") != 0 || path_value_covers(own, mount->source))
                return true;
        fd = bind_mount_open_source(context, mount, error);
        if (fd < 0)
                return false;
        g_array_append_val(opened, fd);
        g_free(mount->source);
        mount->source = g_strdup_printf("/proc/self/fd/%d", fd);
        return true;
}

bool prepared_mounts_make(Spec *spec, size_t n_own, size_t n_last, const BindMountContext *context, const char *own,
                          const UserNamespace *userns, PreparedMounts *ret, GError **error) {
        ret->mounts = g_array_new(FALSE, FALSE, sizeof(int));
        ret->opened = g_array_new(FALSE, FALSE, sizeof(int));
        g_array_set_clear_func(ret->mounts, close_fd);
        g_array_set_clear_func(ret->opened, close_fd);
        for (size_t i = 0; i < spec->mounts_len; i++) {
                const char *id_map = bind_mount_find_id_map(context, spec->mounts[i]);
                int fd = -1;

                if ((userns->uids || id_map) &&
                    !(i < n_own || i >= spec->mounts_len - n_last ?
                              prepare_own(spec, spec->mounts[i], context, own, userns, &fd, error) :
                              open_further(spec->mounts[i], context, own, id_map, ret->opened, error)))
                        return false;
                g_array_append_val(ret->mounts, fd);
        }
        return true;
}

void prepared_mounts_clear(PreparedMounts *prepared) {
        g_clear_pointer(&prepared->mounts, g_array_unref);
        g_clear_pointer(&prepared->opened, g_array_unref);
}
