/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: count faults|instructions COMMAND [ARG...]: what it costs in user space, in numbers that repeat.
 *
 * faults: page faults of the command and of the children that it has waited for.
 * instructions: of its own, one step at a time, up to its first clone(2) that makes a process: for libstart that is
 * the container's. The command is killed there. */
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t run(char **command, int traced) {
        pid_t pid = fork();

        if (pid < 0)
                err(1, "fork");
        if (pid > 0)
                return pid;
        if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
                err(1, "ptrace");
        execvp(command[0], command);
        err(1, "%s", command[0]);
}

static void count_faults(char **command) {
        struct rusage usage;
        int status;

        if (wait4(run(command, 0), &status, 0, &usage) < 0 || status != 0)
                errx(1, "%s: status %#x", command[0], status);
        printf("%ld\n", usage.ru_minflt);
}

/* A step is two switches between us and the command; they take half as long where neither changes the processor. */
static void stay_on_this_processor(void) {
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof one, &one) < 0)
                err(1, "sched_setaffinity");
}

static void count_instructions(char **command) {
        unsigned long n = 0, message;
        pid_t pid, child;
        int status;

        stay_on_this_processor();
        pid = run(command, 1);
        if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
                errx(1, "%s: status %#x", command[0], status);
        if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL) < 0)
                err(1, "ptrace");
        for (; status >> 16 == 0; n++)
                if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) < 0 ||
                    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
                        errx(1, "%s ended with status %#x after %lu instructions", command[0], status, n);
        if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &message) < 0)
                err(1, "ptrace");
        child = (pid_t) message;
        kill(child, SIGKILL);
        kill(pid, SIGKILL);
        printf("%lu\n", n);
}

int main(int argc, char **argv) {
        if (argc > 2 && strcmp(argv[1], "faults") == 0)
                count_faults(argv + 2);
        else if (argc > 2 && strcmp(argv[1], "instructions") == 0)
                count_instructions(argv + 2);
        else
                errx(2, "usage: count faults|instructions COMMAND [ARG...]");
        return 0;
}
