/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: racer DIRECTORY NAME...
 *
 * For each NAME exchanges, as fast as it can, what DIRECTORY has under it and under NAME.other: a directory and a
 * link that leads out of it. Says "racing" when it has begun. */
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[]) {
        if (argc < 3 || chdir(argv[1]) < 0)
                err(1, "usage: racer DIRECTORY NAME...");
        for (unsigned long round = 0;; round++)
                for (int i = 2; i < argc; i++) {
                        char other[NAME_MAX];

                        snprintf(other, sizeof other, "%s.other", argv[i]);
                        if (renameat2(AT_FDCWD, argv[i], AT_FDCWD, other, RENAME_EXCHANGE) < 0)
                                err(1, "cannot exchange '%s'", argv[i]);
                        if (round == 1000 && i == 2) {
                                puts("racing");
                                fflush(stdout);
                        }
                }
}
