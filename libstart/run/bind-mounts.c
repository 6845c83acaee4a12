/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/option/id-map.h"
#include "libstart/option/mount-request.h"
#include "libstart/run/bind-mounts.h"
#include "libstart/run/host-path.h"
#include "libstart/run/id-mapped-mount.h"
#include "libstart/run/overlay.h"
#include "libstart/run/root-file.h"
#include "libstart/run/userns-descriptor.h"
#include "libstart/store/image.h"

typedef runtime_spec_schema_defs_mount Mount;

/* What each option does to the mount's flags. */
static const struct {
        const char *name;
        guint64 set, clear;
        bool recursive;
} options[] = {
        { "bind" },
        { "rbind", .recursive = true },
        { "private" },
        { "rprivate" },
        { "rw", .clear = MOUNT_ATTR_RDONLY },
        { "ro", .set = MOUNT_ATTR_RDONLY },
        { "suid", .clear = MOUNT_ATTR_NOSUID },
        { "nosuid", .set = MOUNT_ATTR_NOSUID },
        { "dev", .clear = MOUNT_ATTR_NODEV },
        { "nodev", .set = MOUNT_ATTR_NODEV },
        { "exec", .clear = MOUNT_ATTR_NOEXEC },
        { "noexec", .set = MOUNT_ATTR_NOEXEC },
};

typedef struct Flags {
        guint64 set;
        bool recursive;
} Flags;

/* The last word counts, as on mount(8)'s command line. False where an option is none of the above. */
static bool find_flags(const Mount *mount, Flags *ret) {
        *ret = (Flags) { 0 };
        for (size_t i = 0; i < mount->options_len; i++) {
                size_t j = 0;

                while (j < G_N_ELEMENTS(options) && !g_str_equal(mount->options[i], options[j].name))
                        j++;
                if (j == G_N_ELEMENTS(options))
                        return false;
                ret->set = (ret->set & ~options[j].clear) | options[j].set;
                ret->recursive |= options[j].recursive;
        }
        return true;
}

bool bind_mount_is_private(const Mount *mount) {
        Flags flags;

        return g_strcmp0(mount->type, "bind") == 0 && find_flags(mount, &flags);
}

static bool is_recursive(const Mount *mount) {
        Flags flags;

        return find_flags(mount, &flags) && flags.recursive;
}

static int fail_mount(const Mount *mount, GError **error) {
        error_set_errno(error, errno, "Cannot mount '%s' in the container", mount->source);
        return -1;
}

static int open_below(int directory, const char *name) {
        return openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_option(const Mount *mount, const char *option) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], option))
                        return true;
        return false;
}

/* What the source is under, unless the user says otherwise. Where it is read-only that says nothing: a remount for another
 * flag would lift it. */
void bind_mount_restrict(Mount *mount, unsigned long flags) {
        static const struct {
                unsigned long flag;
                const char *option, *opposite;
        } table[] = {
                { ST_NOEXEC, "noexec", "exec" },
                { ST_NOSUID, "nosuid", "suid" },
                { ST_NODEV, "nodev", "dev" },
                { ST_RDONLY, "ro", "" },
        };

        mount->options = g_renew(char *, mount->options, mount->options_len + G_N_ELEMENTS(table));
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (flags & table[i].flag && !has_option(mount, table[i].opposite))
                        mount->options[mount->options_len++] = g_strdup(table[i].option);
}

/* What the user asks for there, or NULL where it is keyturn's own mount. */
static const MountRequest *find_request(const ContainerRequest *container, const Mount *mount) {
        for (guint i = 0; i < container->mounts->len; i++) {
                const MountRequest *request = container->mounts->pdata[i];

                if (g_str_equal(request->destination, mount->destination))
                        return request;
        }
        return NULL;
}

const char *bind_mount_find_id_map(const BindMountContext *context, const Mount *mount) {
        const MountRequest *request = find_request(context->request, mount);

        return request ? request->id_map : NULL;
}

bool bind_mount_is_special(const ContainerRequest *container, const Mount *mount) {
        const MountRequest *request = find_request(container, mount);

        return request && (request->type == MOUNT_IMAGE || request->overlay || request->subpath);
}

static bool fail_source(const Mount *mount, GError *problem, GError **error) {
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_prefixed_error(error, problem,
                                           "Cannot mount '%s' on the container's '%s': ", mount->source,
                                           mount->destination);
                return false;
        }
        g_error_free(problem);
        return error_set(error, KT_ERROR_NOT_FOUND,
                         "Cannot mount '%s' on the container's '%s' (Volume=, Mount=): '%s' is not there; create it "
                         "before, e.g. with mkdir or tmpfiles.d(5)",
                         mount->source, mount->destination, mount->source);
}

int bind_mount_open_source(const BindMountContext *context, Mount *mount, GError **error) {
        GError *problem = NULL;
        int fd = host_path_open(mount->source, O_PATH, context->request->untrusted_list, &problem);
        struct statvfs st;

        if (fd < 0)
                fail_source(mount, problem, error);
        else if (find_request(context->request, mount) && fstatvfs(fd, &st) == 0)
                bind_mount_restrict(mount, st.f_flag);
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

static int clone_mount(int source, bool recursive) {
        return (int) syscall(SYS_open_tree, source, "",
                             AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? AT_RECURSIVE : 0));
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

/* What is written goes into the writable layer, and with the container. */
static int make_overlay(const BindMountContext *context, int source, const Mount *wanted, GError **error) {
        _cleanup_close_ int directory = -1, upper = -1, work = -1, lower = -1;
        g_autofree char *name = g_strdup_printf("volume:%s", wanted->destination);
        const MountLabel label = { "context", context->label.text };

        g_strdelimit(name, "/", ':');
        if (mkdirat(context->layer, name, 0700) == 0)
                directory = open_below(context->layer, name);
        if (directory >= 0 && mkdirat(directory, "work", 0700) == 0)
                work = open_below(directory, "work");
        if (work >= 0)
                upper = make_upper(directory, source);
        lower = open_below(source, ".");
        if (upper < 0 || lower < 0) {
                error_set_errno(error, errno, "Cannot make the overlay of '%s' (O)%s", wanted->source,
                                writable_layer_hint(errno));
                return -1;
        }
        return overlay_mount_over(lower, upper, work, &label, error);
}

/* An image in the store is only read: its layers are mounted without one that can be written. */
static int mount_image(const BindMountContext *context, const Mount *wanted, const MountRequest *request,
                       GError **error) {
        g_autoptr(StoreImage) image = store_image_find("", request->source, context->request->image_stores, error);
        const MountLabel label = { "context", context->label.text };
        _cleanup_close_ int whole = -1, part = -1;
        OverlayPlace place;
        int fd;

        if (!image)
                return -1;
        if (image->layers[1] && !overlay_is_detached(NULL)) {
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "Mount=type=image takes Linux 6.8 for an image of several layers");
                return -1;
        }
        whole = image->layers[1] ? overlay_mount(image->layers, NULL, -1, &label, NULL, &place, error) :
                                   open(image->layers[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (whole < 0)
                return image->layers[1] ? -1 : fail_mount(wanted, error);
        if (image->layers[1] && !request->subpath)
                return fd_steal(&whole);
        part = request->subpath ? open_subpath(whole, request->subpath, wanted->destination, error) : dup(whole);
        if (part < 0)
                return -1;
        fd = clone_mount(part, false);
        return fd >= 0 ? fd : fail_mount(wanted, error);
}

/* A mount of what is wanted, attached nowhere; or -1. */
static int make_detached(const BindMountContext *context, Mount *wanted, const MountRequest *request,
                         GError **error) {
        _cleanup_close_ int source = -1, part = -1;
        int fd;

        if (request && request->type == MOUNT_IMAGE)
                return mount_image(context, wanted, request, error);
        source = bind_mount_open_source(context, wanted, error);
        if (source >= 0 && request && request->subpath) {
                part = open_subpath(source, request->subpath, wanted->destination, error);
                close(source);
                source = fd_steal(&part);
        }
        if (source < 0)
                return -1;
        if (request && request->overlay)
                return make_overlay(context, source, wanted, error);
        fd = clone_mount(source, is_recursive(wanted));
        return fd >= 0 ? fd : fail_mount(wanted, error);
}

/* Only the mount itself gets the flags; mounts below it keep theirs. */
static bool restrict_mount(int fd, const Flags *flags, bool is_shared) {
        static const guint64 all = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
        struct mount_attr attributes = { .attr_set = flags->set, .attr_clr = all & ~flags->set };
        struct mount_attr alone = { .propagation = MS_PRIVATE };

        return syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 &&
               (!is_shared ||
                syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &alone, sizeof alone) == 0);
}

static bool map_as_container(int mount, const Mount *wanted, const UserNamespace *userns, GError **error) {
        if (!userns->uids)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "Cannot mount '%s' with 'idmap': the container has no user namespace to map it for; give "
                        "it one (UserNS=, UIDMap=), or say which ids: idmap=uids=...;gids=...",
                        wanted->source);
        return userns->fd < 0 || id_mapped_mount_set(mount, userns->fd, wanted->source, error);
}

static bool map_owners(int mount, const Mount *wanted, const char *map, const UserNamespace *userns, GError **error) {
        g_autoptr(GArray) uids = NULL, gids = NULL;
        _cleanup_close_ int fd = -1;

        if (!*map)
                return map_as_container(mount, wanted, userns, error);
        if (id_map_mount_is_relative(map) && !userns->uids)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "Cannot mount '%s' with 'idmap=%s': a @ is an id of the container's user namespace, and "
                        "it has none",
                        wanted->source, map);
        if (id_map_parse_mount(map, userns->uids, userns->gids, &uids, &gids, error))
                fd = userns_descriptor_make(uids, gids, error);
        return fd >= 0 && id_mapped_mount_set(mount, fd, wanted->source, error);
}

/* The mount gets its flags before it is attached: nobody sees it without them. */
int bind_mount_clone(const BindMountContext *context, Mount *wanted, GError **error) {
        const MountRequest *request = find_request(context->request, wanted);
        _cleanup_close_ int fd = make_detached(context, wanted, request, error);
        Flags flags;

        if (fd < 0)
                return -1;
        if (!find_flags(wanted, &flags)) {
                error_set(error, KT_ERROR_FAILED, "Cannot mount '%s' with these options", wanted->source);
                return -1;
        }
        if (!restrict_mount(fd, &flags, context->is_shared))
                return fail_mount(wanted, error);
        if (request && request->id_map && !map_owners(fd, wanted, request->id_map, context->userns, error))
                return -1;
        return fd_steal(&fd);
}

bool bind_mount_attach(const BindMountContext *context, const Mount *wanted, int mount, GError **error) {
        _cleanup_close_ int target = root_file_open_mount_point(context->root_fd, wanted->destination + 1, mount,
                                                                error);

        if (target < 0)
                return false;
        if (syscall(SYS_move_mount, mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
                return error_set_errno(error, errno, "Cannot mount '%s' on the container's '%s'", wanted->source,
                                       wanted->destination);
        return true;
}

bool bind_mount_make(const BindMountContext *context, Mount *wanted, GError **error) {
        _cleanup_close_ int mount = bind_mount_clone(context, wanted, error);

        return mount >= 0 && bind_mount_attach(context, wanted, mount, error);
}
