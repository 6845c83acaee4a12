/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Takes each process that comes into its pid namespace while that waits for a word of libcrun's, and has it write a
 * PID into the same socket, before the process that has forked it writes the true one. For x86-64. */

#define SYSCALL_SIZE 2 /* of the instruction */

static bool go_on(int pid) {
        int status;

        return ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid &&
               WIFSTOPPED(status);
}

static bool is_at_read(int pid) {
        struct __ptrace_syscall_info info;

        return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY &&
               info.entry.nr == SYS_read;
}

/* From the begin of its read(2) to the same place. `regs`: as they are there. */
static bool write_instead(int pid, const struct user_regs_struct *regs, long data, size_t size) {
        struct user_regs_struct other = *regs;

        other.orig_rax = SYS_write;
        other.rdx = size;
        if (ptrace(PTRACE_POKEDATA, pid, (void *) regs->rsi, (void *) data) < 0 ||
            ptrace(PTRACE_SETREGS, pid, NULL, &other) < 0 || !go_on(pid) ||
            ptrace(PTRACE_GETREGS, pid, NULL, &other) < 0 || other.rax != size)
                return false;
        other = *regs;
        other.rip -= SYSCALL_SIZE;
        other.rax = SYS_read;
        return ptrace(PTRACE_SETREGS, pid, NULL, &other) == 0 && go_on(pid) && is_at_read(pid);
}

static bool forge(int pid, int told) {
        struct user_regs_struct regs;
        int status;
        long was;
        bool done;

        if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid ||
            !WIFSTOPPED(status))
                return false;
        while (!is_at_read(pid))
                if (!go_on(pid))
                        return false;
        if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
                return false;
        was = ptrace(PTRACE_PEEKDATA, pid, (void *) regs.rsi, NULL);
        done = write_instead(pid, &regs, (was & ~0xffL) | '0', 1) &&
               write_instead(pid, &regs, (was & ~0xffffffffL) | (unsigned int) told, sizeof told);
        ptrace(PTRACE_POKEDATA, pid, (void *) regs.rsi, (void *) was);
        return done;
}

/* What is told: a number, or its own, as this namespace has it. */
int main(int argc, char *argv[]) {
        printf("begin\n");
        fflush(stdout);
        for (int next = getpid() + 1; argc == 2;)
                for (int pid = next; pid < next + 32; pid++) {
                        if (ptrace(PTRACE_SEIZE, pid, NULL, (void *) PTRACE_O_TRACESYSGOOD) < 0)
                                continue;
                        int told = strcmp(argv[1], "own") == 0 ? pid : atoi(argv[1]);

                        printf("%s\n", forge(pid, told) ? "told" : "failed");
                        fflush(stdout);
                        ptrace(PTRACE_DETACH, pid, NULL, NULL);
                        next = pid + 1;
                        break;
                }
        return 2;
}
