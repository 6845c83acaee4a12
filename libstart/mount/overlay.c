/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/id-mapped-mount.h"
#include "libstart/mount/mount-tree.h"
#include "libstart/mount/overlay.h"

/* glibc has fsopen(2) and its like from 2.36 on: so it is syscall(2), whose numbers for them are the same on every
 * architecture. */

/* The kernel explains a refused mount in words on the context's descriptor, one message a read. */
static char *read_explanation(int context) {
        char text[512];
        ssize_t n = read(context, text, sizeof text - 1);

        if (n <= 2)
                return NULL;
        text[n] = '\0';
        return g_strdup(g_strchomp(text + (text[1] == ' ' ? 2 : 0)));
}

static int fail_mount(int context, int errnum, const char *what, GError **error) {
        g_autofree char *explanation = context >= 0 ? read_explanation(context) : NULL;

        return error_negative_errno(error, errnum, "Cannot mount the overlay of the container's root%s%s%s%s",
                                    what ? ", " : "", what ?: "", explanation ? ": " : "", explanation ?: "");
}

static void append_path(GString *options, const char *name, const char *path) {
        g_string_append(options, name);
        for (; *path; path++) {
                if (strchr(":,\\", *path))
                        g_string_append_c(options, '\\');
                g_string_append_c(options, *path);
        }
}

char *overlay_options(char *const *layers, const char *upper, const char *work) {
        GString *options = g_string_new(NULL);

        for (size_t i = 0; layers[i]; i++)
                append_path(options, i == 0 ? "lowerdir=" : ":", layers[i]);
        if (upper) {
                append_path(options, ",upperdir=", upper);
                append_path(options, ",workdir=", work);
        }
        return g_string_free(options, FALSE);
}

/* MAJOR * 1000 + MINOR; 0 if it cannot be told. Up to 6.4 overlayfs does not even say what it does not take:
 * fsconfig(2) takes any option, and the mount fails with a message in the kernel's log. So the kernel is asked for
 * its age. */
static unsigned kernel_version(void) {
        struct utsname name;
        unsigned major = 0, minor = 0;

        return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

/* Linux 5.19: layers may be mapped. 6.8: they are given one by one. 6.15: also those that are attached nowhere, as
 * descriptors. */
#define LINUX_MAPPED_LAYERS 5019
#define LINUX_SINGLE_LAYERS 6008
#define LINUX_DETACHED_LAYERS 6015

static bool enter_namespace(const char *target, GError **error) {
        if (unshare(CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot make a mount namespace");
        return mount_tree_separate(target, error);
}

/* What was mounted on it, attached nowhere from now on. */
static int detach(const char *target, GError **error) {
        _cleanup_close_ int attached = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
        int fd = attached < 0 ? -1 : mount_tree_clone(attached, 0);

        if (fd < 0)
                error_set_errno(error, errno, "Cannot copy the mount of the image");
        (void) umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW);
        return fd;
}

/* One string of at most a page. */
static int mount_attached(char *const *layers, const char *upper, const char *work, const MountLabel *label,
                          const char *target, GError **error) {
        g_autofree char *plain = overlay_options(layers, upper, work);
        g_autoptr(GString) options = g_string_new(plain);

        mount_label_append(label, options);
        if (user_view_is_entered())
                g_string_append(options, ",userxattr");
        if (options->len >= (size_t) sysconf(_SC_PAGESIZE))
                return error_negative(
                        error, KT_ERROR_FAILED,
                        "The image has too many layers for this kernel: the options of its overlay are %zu bytes, "
                        "and one page is the limit before Linux 6.8; squash the image",
                        options->len);
        if (mount("overlay", target, "overlay", MS_NODEV, options->str) < 0)
                return fail_mount(-1, errno, NULL, error);
        return detach(target, error);
}

/* The writable layer: by paths, or by descriptors, or none. */
typedef struct Writable {
        const char *upper, *work;
        const WritableLayer *layer;
} Writable;

static bool set_writable(int context, const Writable *writable) {
        if (writable->upper)
                return syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "upperdir", writable->upper, 0) == 0 &&
                       syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "workdir", writable->work, 0) == 0;
        return !writable->layer ||
               (syscall(SYS_fsconfig, context, FSCONFIG_SET_FD, "upperdir", NULL, writable->layer->upper) == 0 &&
                syscall(SYS_fsconfig, context, FSCONFIG_SET_FD, "workdir", NULL, writable->layer->work) == 0);
}

static int mount_detached(char *const *layers, const Writable *writable, const MountLabel *label, GError **error) {
        _cleanup_close_ int context = (int) syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
        int fd;

        if (context < 0)
                return fail_mount(-1, errno, "does this kernel have it?", error);
        for (size_t i = 0; layers[i]; i++)
                if (syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "lowerdir+", layers[i], 0) < 0)
                        return fail_mount(context, errno, layers[i], error);
        if (user_view_is_entered() && syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0)
                return fail_mount(context, errno, "userxattr", error);
        if (!set_writable(context, writable) || !mount_label_configure(label, context) ||
            syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return fail_mount(context, errno, NULL, error);
        fd = (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NODEV);
        return fd < 0 ? fail_mount(context, errno, NULL, error) : fd;
}

static bool set_directory(int context, const char *key, int fd) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);

        return syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, path, 0) == 0;
}

int overlay_mount_over(int lower, int upper, int work, const MountLabel *label, GError **error) {
        _cleanup_close_ int context = (int) syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
        int fd = -1;

        if (context >= 0 && user_view_is_entered())
                (void) syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0);
        if (context >= 0 && set_directory(context, "lowerdir", lower) && set_directory(context, "upperdir", upper) &&
            set_directory(context, "workdir", work) && mount_label_configure(label, context) &&
            syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                fd = (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
        if (fd < 0) {
                int errnum = errno;
                g_autofree char *explanation = context >= 0 ? read_explanation(context) : NULL;

                error_set_errno(error, errnum, "Cannot mount an overlay%s%s", explanation ? ": " : "",
                                explanation ?: "");
        }
        return fd;
}

/*
 * Mapped layers
 */

/* The layers as they are seen through mapped mounts. One mount is enough for all that have the same directory two
 * levels up (STORE/overlay/ID/diff): each more of them would cost as much as all the rest. */
typedef struct MappedLayers {
        GPtrArray *tops; /* of char*: the directories that are mounted */
        GArray *mounts;  /* of int */
        char **paths;    /* of the layers in there, uppermost first */
} MappedLayers;

static void close_mount(void *mount) {
        fd_closep(mount);
}

static void mapped_layers_clear(MappedLayers *mapped) {
        g_clear_pointer(&mapped->tops, g_ptr_array_unref);
        g_clear_pointer(&mapped->mounts, g_array_unref);
        g_clear_pointer(&mapped->paths, g_strfreev);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MappedLayers, mapped_layers_clear)

static bool find_top(MappedLayers *mapped, const char *top, int userns_fd, guint *ret, GError **error) {
        int mount;

        if (g_ptr_array_find_with_equal_func(mapped->tops, top, g_str_equal, ret))
                return true;
        mount = id_mapped_mount_clone(top, userns_fd, error);
        if (mount < 0)
                return false;
        *ret = mapped->tops->len;
        g_ptr_array_add(mapped->tops, g_strdup(top));
        g_array_append_val(mapped->mounts, mount);
        return true;
}

/* On a directory of the writable layer's file system, which is attached to `target`; NULL: nowhere. */
static char *place_of(const MappedLayers *mapped, guint top, const char *target) {
        return target ? g_strdup_printf("%s/lower%u", target, top) :
                        g_strdup_printf("/proc/self/fd/%d", g_array_index(mapped->mounts, int, top));
}

static bool map_layers(char *const *layers, int userns_fd, const char *target, MappedLayers *ret, GError **error) {
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);

        ret->tops = g_ptr_array_new_with_free_func(g_free);
        ret->mounts = g_array_new(FALSE, FALSE, sizeof(int));
        g_array_set_clear_func(ret->mounts, close_mount);
        for (size_t i = 0; layers[i]; i++) {
                g_autofree char *above = g_path_get_dirname(layers[i]), *top = g_path_get_dirname(above);
                guint number;

                if (!find_top(ret, top, userns_fd, &number, error))
                        return false;
                g_autofree char *place = place_of(ret, number, target);
                g_ptr_array_add(paths, g_strconcat(place, layers[i] + strlen(top), NULL));
        }
        g_ptr_array_add(paths, NULL);
        ret->paths = (char **) g_ptr_array_steal(paths, NULL);
        return true;
}

static bool attach_mapped(const MappedLayers *mapped, const char *target, GError **error) {
        for (guint i = 0; i < mapped->mounts->len; i++) {
                g_autofree char *place = place_of(mapped, i, target);

                if (mkdir(place, 0700) < 0)
                        return error_set_errno(error, errno, "Cannot make '%s'", place);
                if (!mount_tree_attach(g_array_index(mapped->mounts, int, i), place, error))
                        return false;
        }
        return true;
}

static bool check_can_map(GError **error) {
        return kernel_version() >= LINUX_MAPPED_LAYERS ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "A container with a user namespace needs Linux 5.19 or newer, where the layers of an image "
                         "can be mapped: use a newer kernel, or remove UserNS=, UIDMap= and GIDMap=");
}

/*
 * The mount
 */

/* One that is there already, as if it had been mapped. Takes ownership of `lower`. */
static void take_lower(int lower, const char *target, MappedLayers *ret) {
        ret->mounts = g_array_new(FALSE, FALSE, sizeof(int));
        g_array_set_clear_func(ret->mounts, close_mount);
        g_array_append_val(ret->mounts, lower);
        ret->paths = g_new0(char *, 2);
        ret->paths[0] = place_of(ret, 0, target);
}

/* Which of the two it is, or neither. */
static bool find_mapped(char *const *layers, int lower, int userns_fd, const char *target, MappedLayers *ret,
                        GError **error) {
        if (lower < 0)
                return userns_fd < 0 || map_layers(layers, userns_fd, target, ret, error);
        lower = fcntl(lower, F_DUPFD_CLOEXEC, 0);
        if (lower < 0)
                return error_set_errno(error, errno, "Cannot copy a descriptor");
        take_lower(lower, target, ret);
        return true;
}

static int mount_in_namespace(char *const *layers, const WritableLayer *layer, int lower, int userns_fd,
                              const MountLabel *label, const char *target, bool *ret_attached, GError **error) {
        g_auto(MappedLayers) mapped = { 0 };
        unsigned version = kernel_version();
        g_autofree char *own = g_path_get_dirname(target);
        g_autofree char *upper = layer ? g_build_filename(target, "upper", NULL) : NULL;
        g_autofree char *work = layer ? g_build_filename(target, "work", NULL) : NULL;

        *ret_attached = layer;
        if (!enter_namespace(target, error) ||
            (layer && (!mount_tree_leave_out(own, NULL, error) || !mount_tree_attach(layer->mount, target, error))) ||
            !find_mapped(layers, lower, userns_fd, target, &mapped, error) ||
            (mapped.paths && !attach_mapped(&mapped, target, error)))
                return -1;
        layers = mapped.paths ?: layers;
        return version < LINUX_SINGLE_LAYERS ?
                       mount_attached(layers, upper, work, label, target, error) :
                       mount_detached(layers, &(Writable) { .upper = upper, .work = work }, label, error);
}

bool overlay_is_detached(const WritableLayer *layer) {
        return kernel_version() >= (layer ? LINUX_DETACHED_LAYERS : LINUX_SINGLE_LAYERS);
}

int overlay_mount(char *const *layers, const WritableLayer *layer, int userns_fd, const MountLabel *label,
                  const char *target, bool *ret_attached, GError **error) {
        g_auto(MappedLayers) mapped = { 0 };

        *ret_attached = false;
        if (userns_fd >= 0 && !check_can_map(error))
                return -1;
        if (!overlay_is_detached(layer))
                return mount_in_namespace(layers, layer, -1, userns_fd, label, target, ret_attached, error);
        if (userns_fd >= 0 && !map_layers(layers, userns_fd, NULL, &mapped, error))
                return -1;
        return mount_detached(mapped.paths ?: layers, &(Writable) { .layer = layer }, label, error);
}

int overlay_mount_above(int lower, const WritableLayer *layer, const MountLabel *label, const char *target,
                        bool *ret_attached, GError **error) {
        g_autofree char *found = g_strdup_printf("/proc/self/fd/%d", lower);
        char *only[] = { found, NULL };

        *ret_attached = false;
        return overlay_is_detached(layer) ?
                       mount_detached(only, &(Writable) { .layer = layer }, label, error) :
                       mount_in_namespace(only, layer, lower, -1, label, target, ret_attached, error);
}

int overlay_merge(char *const *layers, const char *target, GError **error) {
        static const MountLabel none = MOUNT_LABEL_NULL;

        return overlay_is_detached(NULL) ? mount_detached(layers, &(Writable) { 0 }, &none, error) :
                                           mount_attached(layers, NULL, NULL, &none, target, error);
}
