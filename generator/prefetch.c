/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/stat.h>

#include "generator/prefetch.h"
#include "libstart/base/fd.h"

/* One request reads no more than the disk takes at once; the rest of it is dropped. 128 KiB suit every disk. */
#define REQUEST_SIZE (128 * 1024)

void prefetch_file(const char *path) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return;
        for (off_t offset = 0; offset < st.st_size; offset += REQUEST_SIZE)
                (void) posix_fadvise(fd, offset, REQUEST_SIZE, POSIX_FADV_WILLNEED);
}
