/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/mount/host-path.h"
#include "libstart/service/log-file.h"

#define FLAGS (O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* To open a device does something; so what is there is looked at first, and then that is opened, whatever has its
 * name by then. -1 with errno. */
static int open_regular(int directory, const char *name) {
        _cleanup_close_ int found = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        char path[32];
        struct stat st;

        if (found < 0 || fstat(found, &st) < 0)
                return -1;
        if (!S_ISREG(st.st_mode)) {
                errno = EINVAL;
                return -1;
        }
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", found);
        return open(path, FLAGS);
}

int log_file_open(const char *path, const HostAccess *access, GError **error) {
        g_autofree char *parent = g_path_get_dirname(path), *name = g_path_get_basename(path);
        _cleanup_close_ int directory = host_path_open(parent, O_PATH | O_DIRECTORY, access, error);
        int fd;

        if (directory < 0) {
                g_prefix_error(error, "The log file '%s': ", path);
                return -1;
        }
        fd = openat(directory, name, FLAGS | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == EEXIST)
                fd = open_regular(directory, name);
        if (fd < 0 && errno == EINVAL)
                error_set(error, KT_ERROR_FAILED, "The log file '%s' is a link, or no regular file", path);
        else if (fd < 0)
                error_set_errno(error, errno, "Cannot open the log file '%s'", path);
        return fd;
}
