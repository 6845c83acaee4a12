/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/runtime/exec-label.h"

/* In place of libcrun, which gives the label of a handler's container to this process at once, because it takes
 * handlers for something that executes nothing.
 *
 * The threat: whoever can mount something on /proc has the label written into a file of his, and the payload goes
 * without (CVE-2019-16884). Nobody's mounts but the host's are there; it is looked at all the same. */

static bool is_proc(int fd) {
        struct statfs fs;

        return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Up to Linux 5.7 AppArmor's file is where SELinux's is. */
static int open_attribute(const char *name, const char *old_name) {
        int fd = open(name, O_WRONLY | O_CLOEXEC);

        return fd < 0 && errno == ENOENT && old_name ? open(old_name, O_WRONLY | O_CLOEXEC) : fd;
}

static bool set(const char *name, const char *old_name, const char *value, const char *what, GError **error) {
        _cleanup_close_ int fd = open_attribute(name, old_name);

        return (fd >= 0 && is_proc(fd) && write(fd, value, strlen(value)) == (ssize_t) strlen(value)) ||
               error_set_errno(error, errno, "Cannot give %s to the payload", what);
}

static bool set_selinux(const char *label, GError **error) {
        g_autofree char *what = g_strdup_printf("SELinux's label '%s'", label);

        return set("/proc/thread-self/attr/exec", NULL, label, what, error);
}

static bool set_apparmor(const char *profile, GError **error) {
        g_autofree char *command = g_strconcat("exec ", profile, NULL);
        g_autofree char *what = g_strdup_printf("AppArmor's profile '%s'", profile);

        bool confined = !g_str_equal(profile, "unconfined");

        /* Who is to have none need not have AppArmor. */
        return set("/proc/thread-self/attr/apparmor/exec", "/proc/thread-self/attr/exec", command, what,
                   confined ? error : NULL) ||
               !confined;
}

bool exec_label_set(const runtime_spec_schema_config_schema_process *process, GError **error) {
        return (!process->selinux_label || set_selinux(process->selinux_label, error)) &&
               (!process->apparmor_profile || set_apparmor(process->apparmor_profile, error));
}
