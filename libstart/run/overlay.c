/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/run/mount-tree.h"
#include "libstart/run/overlay.h"

/* glibc has these calls from 2.36 on; the numbers are the same on every architecture. */
static int sys_fsopen(const char *type, unsigned flags) {
        return (int) syscall(SYS_fsopen, type, flags);
}

static int sys_fsconfig(int fd, unsigned command, const char *key, const char *value) {
        return (int) syscall(SYS_fsconfig, fd, command, key, value, 0);
}

static int sys_fsmount(int fd, unsigned flags, unsigned attributes) {
        return (int) syscall(SYS_fsmount, fd, flags, attributes);
}

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

        error_set_errno(error, errnum, "Cannot mount the overlay of the container's root%s%s%s%s", what ? ", " : "",
                        what ?: "", explanation ? ": " : "", explanation ?: "");
        return -1;
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

/* Before Linux 6.8 overlayfs takes no layers one by one. Up to 6.4 it does not even say so: fsconfig(2) takes any option,
 * and the mount fails with a message in the kernel's log. So the kernel is asked for its age. */
bool overlay_is_detached(void) {
        struct utsname name;
        unsigned major = 0, minor = 0;

        return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
               (major > 6 || (major == 6 && minor >= 8));
}

/* One string of at most a page. */
static int mount_attached(char *const *layers, const char *upper, const char *work, const char *target,
                          GError **error) {
        g_autofree char *options = overlay_options(layers, upper, work);
        int fd;

        if (strlen(options) >= (size_t) sysconf(_SC_PAGESIZE)) {
                error_set(error, KT_ERROR_FAILED,
                          "The image has too many layers for this kernel: the options of its overlay are %zu bytes, "
                          "and one page is the limit before Linux 6.8; squash the image",
                          strlen(options));
                return -1;
        }
        if (unshare(CLONE_NEWNS) < 0) {
                error_set_errno(error, errno, "Cannot make a mount namespace");
                return -1;
        }
        if (!mount_tree_separate(target, error))
                return -1;
        if (mount("overlay", target, "overlay", 0, options) < 0)
                return fail_mount(-1, errno, NULL, error);
        fd = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                error_set_errno(error, errno, "Cannot open '%s'", target);
        return fd;
}

static bool set_layers(int context, char *const *layers, const char *upper, const char *work, GError **error) {
        for (size_t i = 0; layers[i]; i++)
                if (sys_fsconfig(context, FSCONFIG_SET_STRING, "lowerdir+", layers[i]) < 0) {
                        fail_mount(context, errno, layers[i], error);
                        return false;
                }
        if (upper && (sys_fsconfig(context, FSCONFIG_SET_STRING, "upperdir", upper) < 0 ||
                      sys_fsconfig(context, FSCONFIG_SET_STRING, "workdir", work) < 0)) {
                fail_mount(context, errno, NULL, error);
                return false;
        }
        return true;
}

static int mount_detached(char *const *layers, const char *upper, const char *work, GError **error) {
        _cleanup_close_ int context = sys_fsopen("overlay", FSOPEN_CLOEXEC);
        int fd;

        if (context < 0)
                return fail_mount(-1, errno, "does this kernel have it?", error);
        if (!set_layers(context, layers, upper, work, error))
                return -1;
        if (sys_fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
                return fail_mount(context, errno, NULL, error);
        fd = sys_fsmount(context, FSMOUNT_CLOEXEC, 0);
        return fd < 0 ? fail_mount(context, errno, NULL, error) : fd;
}

int overlay_mount(char *const *layers, const char *upper, const char *work, const char *target, bool *ret_attached,
                  GError **error) {
        *ret_attached = !overlay_is_detached();
        return *ret_attached ? mount_attached(layers, upper, work, target, error) :
                               mount_detached(layers, upper, work, error);
}
