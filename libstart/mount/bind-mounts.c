/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/bind-mounts.h"
#include "libstart/mount/host-path.h"
#include "libstart/mount/id-mapped-mount.h"
#include "libstart/mount/mount-tree.h"
#include "libstart/mount/overlay.h"
#include "libstart/mount/root-file.h"
#include "libstart/request/mount-request.h"
#include "libstart/store/image.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/value/id-map.h"

static int fail_mount(const ContainerMount *mount, GError **error) {
        return error_negative_errno(error, errno, "Cannot mount '%s' in the container", mount->oci->source);
}

static int open_below(int directory, const char *name) {
        return openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool fail_source(const ContainerMount *mount, GError *problem, GError **error) {
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_prefixed_error(error, problem,
                                           "Cannot mount '%s' on the container's '%s': ", mount->oci->source,
                                           mount->oci->destination);
                return false;
        }
        g_error_free(problem);
        return error_set(error, KT_ERROR_NOT_FOUND,
                         "Cannot mount '%s' on the container's '%s' (Volume=, Mount=): '%s' is not there; create it "
                         "before, e.g. with mkdir or tmpfiles.d(5)",
                         mount->oci->source, mount->oci->destination, mount->oci->source);
}

/* What is keyturn's own, root's, and a volume, whose place only root sees. */
static HostAccess find_access(const BindMountContext *context, const ContainerMount *mount) {
        HostAccess access = context->request->host_access;

        if (!mount->request || mount->request->type != MOUNT_BIND)
                access.owner = NULL;
        return access;
}

int bind_mount_open_source(const BindMountContext *context, ContainerMount *mount, GError **error) {
        GError *problem = NULL;
        const HostAccess access = find_access(context, mount);
        int fd = host_path_open(mount->oci->source, O_PATH, &access, &problem);
        struct statvfs st;

        if (fd < 0)
                fail_source(mount, problem, error);
        else if (mount->request && fstatvfs(fd, &st) < 0) {
                error_set_errno(error, errno, "Cannot see how '%s' is mounted", mount->oci->source);
                fd_close(&fd);
        } else if (mount->request)
                container_mount_restrict(mount, st.f_flag);
        return fd;
}

/* Links lead nowhere but within the volume or the image, whatever a payload has put there. */
static int open_subpath(int fd, const char *subpath, const char *destination, GError **error) {
        int found = resolve_open(fd, subpath, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

        if (found < 0)
                error_set_errno(error, errno, "Cannot mount on the container's '%s': subpath '%s'", destination,
                                subpath);
        return found;
}

/* With the owner and mode of what is below: they become those of the overlay's root. */
static int make_upper(int directory, int source) {
        struct stat st;
        int fd;

        if (fstat(source, &st) < 0 || mkdirat(directory, "upper", 0700) < 0)
                return -1;
        fd = open_below(directory, "upper");
        if (fd >= 0 && (fchown(fd, st.st_uid, st.st_gid) < 0 || fchmod(fd, st.st_mode & 07777) < 0))
                fd_closep(&fd);
        return fd;
}

/* Before Linux 6.15 the kernel makes overlays only of directories whose mounts are attached in this namespace. So the
 * tmpfs is attached where the overlay will lie on it; but not by a process that is not in the container's (mounts.h).
 */
static bool attach_below(const BindMountContext *context, int layer, int source, const ContainerMount *wanted,
                         GError **error) {
        _cleanup_close_ int target = -1;

        if (context->root_fd < 0)
                return true;
        target = root_file_open_mount_point(context->root_fd, wanted->oci->destination + 1, source, error);
        return target >= 0 && (mount_tree_put(layer, target) || fail_mount(wanted, error) >= 0);
}

/* What is written goes into a tmpfs with the limits of the writable layer, and with the container. */
static int make_overlay(const BindMountContext *context, int source, const ContainerMount *wanted, GError **error) {
        _cleanup_close_ int upper = -1, lower = -1, work = -1;
        g_auto(WritableLayer) layer = WRITABLE_LAYER_NULL;
        const MountLabel label = { "context", context->label.text };

        if (!writable_layer_make(&context->request->storage, &label, &layer, error) ||
            !attach_below(context, layer.mount, source, wanted, error))
                return -1;
        if (mkdirat(layer.mount, "work", 0700) == 0)
                work = open_below(layer.mount, "work");
        if (work >= 0)
                upper = make_upper(layer.mount, source);
        if (upper >= 0)
                lower = open_below(source, ".");
        if (lower < 0)
                return error_negative_errno(error, errno, "Cannot make the overlay of '%s' (O)", wanted->oci->source);
        return overlay_mount_over(lower, upper, work, &label, error);
}

/* An image in the store is only read: its layers are mounted without one that can be written. */
static int mount_image(const BindMountContext *context, const ContainerMount *wanted, GError **error) {
        const MountRequest *request = wanted->request;
        g_autoptr(StoreImage) image = store_image_find("", request->source, context->request->image_stores, error);
        const MountLabel label = { "context", context->label.text };
        _cleanup_close_ int whole = -1, part = -1;
        bool attached;
        int fd;

        if (!image)
                return -1;
        if (image->layers[1] && !overlay_is_detached(NULL))
                return error_negative(error, KT_ERROR_UNSUPPORTED,
                                      "Mount=type=image takes Linux 6.8 for an image of several layers");
        whole = image->layers[1] ? overlay_mount(image->layers, NULL, -1, &label, NULL, &attached, error) :
                                   open(image->layers[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (whole < 0)
                return image->layers[1] ? -1 : fail_mount(wanted, error);
        if (image->layers[1] && !request->subpath)
                return fd_steal(&whole);
        part = request->subpath ? open_subpath(whole, request->subpath, wanted->oci->destination, error) : dup(whole);
        if (part < 0)
                return -1;
        fd = mount_tree_clone(part, 0);
        return fd >= 0 ? fd : fail_mount(wanted, error);
}

/* A mount of what is wanted, attached nowhere; or -1. */
static int make_detached(const BindMountContext *context, ContainerMount *wanted, GError **error) {
        const MountRequest *request = wanted->request;
        _cleanup_close_ int source = -1, part = -1;
        int fd;

        if (request && request->type == MOUNT_IMAGE)
                return mount_image(context, wanted, error);
        source = bind_mount_open_source(context, wanted, error);
        if (source >= 0 && request && request->subpath) {
                part = open_subpath(source, request->subpath, wanted->oci->destination, error);
                close(source);
                source = fd_steal(&part);
        }
        if (source < 0)
                return -1;
        if (request && request->overlay)
                return make_overlay(context, source, wanted, error);
        fd = mount_tree_clone(source, wanted->flags & MS_REC ? AT_RECURSIVE : 0);
        return fd >= 0 ? fd : fail_mount(wanted, error);
}

/* Only the mount itself gets the flags; mounts below it keep theirs. One that stays shared is a peer of its source.
 */
static bool restrict_mount(int fd, unsigned long flags, bool is_shared) {
        bool stays = flags & MS_SHARED;
        struct mount_attr attributes = { .attr_set = flags & MOUNT_RESTRICTIONS,
                                         .attr_clr = ~flags & MOUNT_RESTRICTIONS };
        struct mount_attr exchange = { .propagation = stays ? MS_SHARED : MS_PRIVATE };

        G_STATIC_ASSERT(MOUNT_ATTR_RDONLY == MS_RDONLY && MOUNT_ATTR_NOSUID == MS_NOSUID &&
                        MOUNT_ATTR_NODEV == MS_NODEV && MOUNT_ATTR_NOEXEC == MS_NOEXEC);
        return syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 &&
               (!(is_shared || stays) ||
                syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &exchange, sizeof exchange) == 0);
}

static bool map_as_container(int mount, const ContainerMount *wanted, const UserNamespace *userns, GError **error) {
        if (userns->fd >= 0)
                return id_mapped_mount_set(mount, userns->fd, wanted->oci->source, error);
        return (id_map_changes_nothing(userns->uids) && id_map_changes_nothing(userns->gids)) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "Cannot mount '%s' with 'idmap': the kernel lets no user but root map the owners of files; "
                         "leave it out, or write U, which changes them",
                         wanted->oci->source);
}

static bool map_owners(int mount, const ContainerMount *wanted, const char *map, const UserNamespace *userns,
                       GError **error) {
        g_autoptr(GArray) uids = NULL, gids = NULL;
        _cleanup_close_ int fd = -1;

        if (!mount_request_check_id_map(wanted->request, userns->uids, error))
                return false;
        if (!*map)
                return map_as_container(mount, wanted, userns, error);
        if (id_map_parse_mount(map, userns->uids, userns->gids, &uids, &gids, error))
                fd = userns_descriptor_make(uids, gids, 0, error);
        return fd >= 0 && id_mapped_mount_set(mount, fd, wanted->oci->source, error);
}

/* The mount gets its flags before it is attached: nobody sees it without them. */
int bind_mount_clone(const BindMountContext *context, ContainerMount *wanted, GError **error) {
        _cleanup_close_ int fd = make_detached(context, wanted, error);
        const char *map = wanted->request ? wanted->request->id_map : NULL;

        if (fd < 0)
                return -1;
        if (!restrict_mount(fd, wanted->flags, context->is_shared))
                return fail_mount(wanted, error);
        if (map && !map_owners(fd, wanted, map, context->userns, error))
                return -1;
        return fd_steal(&fd);
}

bool bind_mount_attach(const BindMountContext *context, const ContainerMount *wanted, int mount, GError **error) {
        _cleanup_close_ int target = root_file_open_mount_point(context->root_fd, wanted->oci->destination + 1, mount,
                                                                error);

        if (target < 0)
                return false;
        if (!mount_tree_put(mount, target))
                return error_set_errno(error, errno, "Cannot mount '%s' on the container's '%s'", wanted->oci->source,
                                       wanted->oci->destination);
        return true;
}
