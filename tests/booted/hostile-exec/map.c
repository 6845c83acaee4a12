/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Changes the first letter of each file through a mapping. The kernel sets the file's times when the first page is
 * made writable, and not again: that is done first, with the letter that is there, and the change comes later. */
int main(int argc, char **argv) {
        char *maps[8] = { 0 };

        for (int i = 1; i < argc && i < 8; i++) {
                int fd = open(argv[i], O_RDWR);

                maps[i] = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                if (fd < 0 || maps[i] == MAP_FAILED)
                        return 1;
                *(volatile char *) maps[i] = *maps[i];
        }
        sleep(1);
        for (int i = 1; i < argc && i < 8; i++)
                *maps[i] = '!';
        return pause();
}
