/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Stops each process that comes into its pid namespace, at the first moment at which it is there, and says so. */

int main(void) {
        for (int next = getpid() + 1;;)
                for (int pid = next; pid < next + 32; pid++)
                        if (kill(pid, SIGSTOP) == 0) {
                                printf("%d\n", pid);
                                fflush(stdout);
                                next = pid + 1;
                                break;
                        }
}
