/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
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

char *overlay_options(char *const *layers, const char *upper, const char *work) {
        GString *options = g_string_new("lowerdir=");
        const char *const last[] = { ",upperdir=", upper, ",workdir=", work };

        for (size_t i = 0; layers[i]; i++) {
                if (i > 0)
                        g_string_append_c(options, ':');
                for (const char *p = layers[i]; *p; p++) {
                        if (strchr(":,\\", *p))
                                g_string_append_c(options, '\\');
                        g_string_append_c(options, *p);
                }
        }
        for (size_t i = 0; i < G_N_ELEMENTS(last); i++)
                g_string_append(options, last[i]);
        return g_string_free(options, FALSE);
}

/* Before Linux 6.5: one string of at most a page. */
static int mount_attached(char *const *layers, const char *upper, const char *work, const char *target,
                          GError **error) {
        g_autofree char *options = overlay_options(layers, upper, work);
        int fd;

        if (strlen(options) >= (size_t) sysconf(_SC_PAGESIZE)) {
                error_set(error, KT_ERROR_FAILED,
                          "The image has too many layers for this kernel: the options of its overlay are %zu bytes, "
                          "and one page is the limit before Linux 6.5; squash the image",
                          strlen(options));
                return -1;
        }
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0) {
                error_set_errno(error, errno, "Cannot make a mount namespace");
                return -1;
        }
        if (mount("overlay", target, "overlay", 0, options) < 0)
                return fail_mount(-1, errno, NULL, error);
        fd = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                error_set_errno(error, errno, "Cannot open '%s'", target);
        return fd;
}

int overlay_mount(char *const *layers, const char *upper, const char *work, const char *fallback_target,
                  bool *ret_attached, GError **error) {
        _cleanup_close_ int context = sys_fsopen("overlay", FSOPEN_CLOEXEC);
        int fd;

        if (context < 0)
                return fail_mount(-1, errno, "does this kernel have it?", error);
        for (size_t i = 0; layers[i]; i++)
                if (sys_fsconfig(context, FSCONFIG_SET_STRING, "lowerdir+", layers[i]) < 0) {
                        if (i > 0 || errno != EINVAL)
                                return fail_mount(context, errno, layers[i], error);
                        *ret_attached = true;
                        return mount_attached(layers, upper, work, fallback_target, error);
                }
        if ((upper && (sys_fsconfig(context, FSCONFIG_SET_STRING, "upperdir", upper) < 0 ||
                       sys_fsconfig(context, FSCONFIG_SET_STRING, "workdir", work) < 0)) ||
            sys_fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
                return fail_mount(context, errno, NULL, error);
        fd = sys_fsmount(context, FSMOUNT_CLOEXEC, 0);
        if (fd < 0)
                return fail_mount(context, errno, NULL, error);
        *ret_attached = false;
        return fd;
}
