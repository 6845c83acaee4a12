/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "generator/prefetch.h"
#include "keyturn-config.h"
#include "libstart/base/fd.h"

/* What a start executes lies in the first MiB of libstart's file (libstart/programs/order.ld). */
#define PREFETCH_SIZE (1024 * 1024)

/* One request reads no more than the disk takes at once; the rest of it is dropped. 128 KiB suit every disk. */
#define REQUEST_SIZE (128 * 1024)

void prefetch_libstart(void) {
        _cleanup_close_ int fd = open(KEYTURN_LIBDIR "/libstart", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        for (off_t offset = 0; fd >= 0 && offset < PREFETCH_SIZE; offset += REQUEST_SIZE)
                (void) posix_fadvise(fd, offset, REQUEST_SIZE, POSIX_FADV_WILLNEED);
}
