/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

/* Maps its own program for ever. */

int main(void) {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        for (;;)
                (void) munmap(mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), 1);
}
