/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An init for a container, in the place of catatonit: runs the command behind "--", passes signals on to it, waits
 * for all that ends, and ends with its status. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
        sigset_t all;
        int signal, status;
        pid_t child, ended;

        if (argc < 3 || strcmp(argv[1], "--") != 0)
                return 2;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        child = fork();
        if (child == 0) {
                sigprocmask(SIG_UNBLOCK, &all, NULL);
                execvp(argv[2], argv + 2);
                _exit(127);
        }
        while (sigwait(&all, &signal) == 0) {
                if (signal != SIGCHLD) {
                        kill(child, signal);
                        continue;
                }
                while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
                        if (ended == child)
                                return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        return 1;
}
