/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: getpid-loop FILE: writes how many picoseconds one getpid(2) takes, the least of ten tries. */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 10, CALLS = 50000 };

static long long nanoseconds(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv) {
        long long least = LLONG_MAX;
        FILE *file;

        if (argc != 2)
                errx(2, "usage: getpid-loop FILE");
        for (int try = 0; try < TRIES; try++) {
                long long began = nanoseconds();
                for (int call = 0; call < CALLS; call++)
                        syscall(SYS_getpid);
                long long took = nanoseconds() - began;
                least = took < least ? took : least;
        }
        file = fopen(argv[1], "w");
        if (!file || fprintf(file, "%lld\n", least * 1000 / CALLS) < 0 || fclose(file) != 0)
                err(1, "%s", argv[1]);
        return 0;
}
