/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The camera of the measurements: tells when its first instruction of C ran, on the clock that systemd counts a boot
 * with, and waits to be stopped. (The demo's camera is a script, whose clock has hundredths of a second.)
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void stop(int signal) {
        _exit(0);
}

int main(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        /* As the container's first process it gets no signal without a handler. */
        signal(SIGTERM, stop);

        printf("first frame at %lld us after boot\n", now.tv_sec * 1000000LL + now.tv_nsec / 1000);
        fflush(stdout);
        for (;;)
                pause();
}
