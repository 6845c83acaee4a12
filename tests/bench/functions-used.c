/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: functions-used COMMAND... < ADDRESSES
 *
 * Runs a static program and prints which of its functions are called, in the order of their first call, by
 * it or by a process that it makes, up to an exec. ADDRESSES: hexadecimal, of all functions, sorted
 * (order-functions asks nm). Each gets a breakpoint, which goes when it is met; so a function that the parent
 * has called before is not told of the child again. */
#include <err.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__)
# error "Breakpoints are written for x86-64 only"
#endif

enum { BREAKPOINT = 0xcc, FUNCTIONS_MAX = 100000 };

static unsigned long functions[FUNCTIONS_MAX];
static unsigned char first_bytes[FUNCTIONS_MAX];
static size_t n_functions;

static void read_functions(void) {
        unsigned long address;

        while (n_functions < FUNCTIONS_MAX && scanf("%lx", &address) == 1)
                if (n_functions == 0 || functions[n_functions - 1] < address)
                        functions[n_functions++] = address;
        if (n_functions == 0)
                errx(1, "no addresses on the standard input");
}

static int compare(const void *a, const void *b) {
        unsigned long x = *(const unsigned long *) a, y = *(const unsigned long *) b;

        return x < y ? -1 : x > y;
}

/* Returns the byte that was there. */
static unsigned char set_byte(pid_t pid, unsigned long address, unsigned char byte) {
        unsigned long word = address & ~7ul, shift = (address - word) * 8;
        unsigned long value = (unsigned long) ptrace(PTRACE_PEEKTEXT, pid, word, NULL);
        unsigned char old = (unsigned char) (value >> shift);

        value = (value & ~(0xfful << shift)) | (unsigned long) byte << shift;
        if (ptrace(PTRACE_POKETEXT, pid, word, value) < 0)
                err(1, "cannot write to the program");
        return old;
}

static void on_breakpoint(pid_t pid) {
        size_t offset = offsetof(struct user_regs_struct, rip);
        unsigned long address = (unsigned long) ptrace(PTRACE_PEEKUSER, pid, offset, NULL) - 1;
        const unsigned long *found = bsearch(&address, functions, n_functions, sizeof address, compare);

        if (!found)
                return;
        set_byte(pid, address, first_bytes[found - functions]);
        ptrace(PTRACE_POKEUSER, pid, offset, address);
        printf("%lx\n", address);
}

/* What the process is to be told when it goes on. */
static int on_stop(pid_t pid, int status, pid_t program) {
        int event = status >> 16, signal = WSTOPSIG(status);

        if (event == PTRACE_EVENT_EXEC && pid == program)
                for (size_t i = 0; i < n_functions; i++)
                        first_bytes[i] = set_byte(pid, functions[i], BREAKPOINT);
        else if (!event && signal == SIGTRAP)
                on_breakpoint(pid);
        return event || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

static pid_t start(char *const *command) {
        pid_t pid = fork();

        if (pid < 0)
                err(1, "fork");
        if (pid == 0) {
                ptrace(PTRACE_TRACEME, 0, NULL, NULL);
                raise(SIGSTOP);
                execv(command[0], command);
                err(127, "%s", command[0]);
        }
        if (waitpid(pid, NULL, 0) < 0 ||
            ptrace(PTRACE_SETOPTIONS, pid, NULL,
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC) < 0)
                err(1, "ptrace");
        ptrace(PTRACE_CONT, pid, NULL, NULL);
        return pid;
}

int main(int argc, char *argv[]) {
        pid_t program, pid;
        int status;

        if (argc < 2)
                errx(2, "usage: functions-used COMMAND... < ADDRESSES");
        read_functions();
        program = start(argv + 1);
        while ((pid = waitpid(-1, &status, __WALL)) > 0) {
                if (!WIFSTOPPED(status)) {
                        if (pid == program)
                                return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
                } else if (status >> 16 == PTRACE_EVENT_EXEC && pid != program) {
                        ptrace(PTRACE_DETACH, pid, NULL, NULL);
                } else {
                        ptrace(PTRACE_CONT, pid, NULL, on_stop(pid, status, program));
                }
        }
        return 1;
}
