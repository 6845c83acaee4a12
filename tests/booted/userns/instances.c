/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A payload that takes all instances of inotify(7) that it can get, says how many, and keeps them. With an argument:
 * only that many, and whether it has got them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv) {
        const struct rlimit many = { 100000, 100000 };
        int wanted = argc > 1 ? atoi(argv[1]) : 100000, taken = 0;

        (void) setrlimit(RLIMIT_NOFILE, &many);
        while (taken < wanted && inotify_init1(IN_CLOEXEC) >= 0)
                taken++;
        if (argc > 1)
                return taken < wanted;
        printf("took %d\n", taken);
        fflush(stdout);
        for (;;)
                pause();
}
