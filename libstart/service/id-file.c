/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/mount/host-path.h"
#include "libstart/service/id-file.h"

bool id_file_write(const ContainerRequest *request, GError **error) {
        const char *path = request->id_file, *name = request->name;
        g_autofree char *parent = g_path_get_dirname(path), *base = g_path_get_basename(path);
        _cleanup_close_ int fd = -1,
                            directory = host_path_open(parent, O_PATH | O_DIRECTORY, &request->host_access, error);

        if (directory < 0)
                return error_prefix(error, "--cidfile: ");
        (void) unlinkat(directory, base, 0);
        fd = openat(directory, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        return (fd >= 0 && fd_write_all(fd, name, strlen(name))) ||
               error_set_errno(error, errno, "--cidfile: cannot write '%s'", path);
}
