/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <glib.h>
#include <stdint.h>

#include "generator/prefetch.h"
#include "keyturn-config.h"
#include "libstart/base/fd.h"

/* One request reads no more than the disk takes at once; the rest of it is dropped. 128 KiB suit every disk. */
#define REQUEST_SIZE (128 * 1024)

/* The generator is in libstart's file, so the linker can say where the pieces are that a start comes to (the last
 * two: libstart/programs/order.ld). NULL where it has put them nowhere. */
extern const char __executable_start[] __attribute__((weak)), _edata[] __attribute__((weak));
extern const char keyturn_text_first_end[] __attribute__((weak)), keyturn_rodata_last[] __attribute__((weak));

static void prefetch(int fd, const char *from, const char *to) {
        for (uintptr_t at = (uintptr_t) from; at < (uintptr_t) to; at += REQUEST_SIZE)
                (void) posix_fadvise(fd, (off_t) (at - (uintptr_t) __executable_start),
                                     (off_t) MIN(REQUEST_SIZE, (uintptr_t) to - at), POSIX_FADV_WILLNEED);
}

void prefetch_libstart(void) {
        _cleanup_close_ int fd = open(KEYTURN_LIBDIR "/libstart", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        if (fd < 0 || !keyturn_text_first_end)
                return;
        prefetch(fd, __executable_start, keyturn_text_first_end);
        prefetch(fd, keyturn_rodata_last, _edata);
}
