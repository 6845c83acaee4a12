/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/pod/shared-hostname.h"
#include "libstart/value/names.h"

/* A user has no rights over the machine's, and so no way back. It is not missed: the container is in this one. */
static bool come_back(int own) {
        return user_view_is_entered() || setns(own, CLONE_NEWUTS) == 0;
}

/* The kernel tells the name only to who is in the namespace, so this process goes there and comes back. */
char *shared_hostname_read(const char *path, GError **error) {
        _cleanup_close_ int own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        char name[HOST_NAME_MAX + 1] = { 0 };
        bool is_read;

        if (own < 0 || fd < 0 || setns(fd, CLONE_NEWUTS) < 0)
                return error_null_errno(error, errno, "Cannot join the namespace '%s'; is its pod's service active?",
                                        path);
        is_read = gethostname(name, sizeof name) == 0;
        if (!come_back(own) || !is_read)
                return error_null_errno(error, errno, "Cannot read the host name of the namespace '%s'", path);
        /* A container in it may have set it, to whatever it likes. */
        return g_strdup(name_is_host(name) ? name : "localhost");
}
