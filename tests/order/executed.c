/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* usage: executed ADDRESSES PROGRAM [ARGUMENT...]
 *
 * Which of these addresses, functions of a program that is not relocated, does it come to? They are appended to
 * ADDRESSES.hit in that order. What it forks counts, what it executes does not. For x86-64. The program is in this
 * process, as systemd expects the main process of a service to be. */

#define BREAKPOINT 0xcc

typedef struct Function {
        uint64_t address;
        unsigned char code;
        int hit;
} Function;

static Function functions[1 << 16];
static size_t n_functions;

static int memory_of(pid_t pid) {
        char path[32];
        int fd;

        snprintf(path, sizeof path, "/proc/%d/mem", pid);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
                error(1, errno, "%s", path);
        return fd;
}

static void set_breakpoints(pid_t pid) {
        int fd = memory_of(pid);
        unsigned char breakpoint = BREAKPOINT;

        for (size_t i = 0; i < n_functions; i++)
                if (pread(fd, &functions[i].code, 1, (off_t) functions[i].address) != 1 ||
                    pwrite(fd, &breakpoint, 1, (off_t) functions[i].address) != 1)
                        error(1, errno, "cannot set a breakpoint at %lx", functions[i].address);
        close(fd);
}

/* Each process has the others' breakpoints, as it is a copy. */
static int pass_breakpoint(pid_t pid, FILE *out) {
        struct user_regs_struct registers;
        int fd;

        ptrace(PTRACE_GETREGS, pid, NULL, &registers);
        for (size_t i = 0; i < n_functions; i++) {
                if (functions[i].address != registers.rip - 1)
                        continue;
                if (!functions[i].hit++)
                        fprintf(out, "%lx\n", functions[i].address);
                fd = memory_of(pid);
                if (pwrite(fd, &functions[i].code, 1, (off_t) functions[i].address) != 1)
                        error(1, errno, "cannot remove a breakpoint");
                close(fd);
                registers.rip--;
                ptrace(PTRACE_SETREGS, pid, NULL, &registers);
                return 0;
        }
        return SIGTRAP;
}

/* Until all have ended or executed another program. */
static void watch(FILE *out) {
        int status;
        pid_t pid;

        while ((pid = waitpid(-1, &status, __WALL)) > 0) {
                int signal = WSTOPSIG(status), event = status >> 16;

                if (!WIFSTOPPED(status))
                        continue;
                if (event == PTRACE_EVENT_EXEC) {
                        ptrace(PTRACE_DETACH, pid, NULL, NULL);
                        continue;
                }
                if (event)
                        signal = 0;
                else if (signal == SIGTRAP)
                        signal = pass_breakpoint(pid, out);
                ptrace(PTRACE_CONT, pid, NULL, (void *) (long) signal);
        }
}

/* In a process of its own. Tells 'ready' when the program can be executed. */
static void trace(pid_t program, int ready, FILE *out) {
        int status;

        if (ptrace(PTRACE_SEIZE, program, NULL,
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC) < 0)
                error(1, errno, "cannot trace");
        if (write(ready, "", 1) != 1)
                error(1, errno, "cannot tell the program");
        /* Before that, it may come to know that its child has ended. */
        while (waitpid(program, &status, __WALL) > 0 && WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_EXEC)
                ptrace(PTRACE_CONT, program, NULL, (void *) (long) (status >> 16 ? 0 : WSTOPSIG(status)));
        if (!WIFSTOPPED(status))
                error(1, 0, "cannot execute the program");
        set_breakpoints(program);
        ptrace(PTRACE_CONT, program, NULL, NULL);
        watch(out);
}

int main(int argc, char *argv[]) {
        char name[4096];
        FILE *in, *out;
        pid_t program, child;
        int ready[2];

        if (argc < 3)
                error(2, 0, "usage: executed ADDRESSES PROGRAM [ARGUMENT...]");
        snprintf(name, sizeof name, "%s.hit", argv[1]);
        in = fopen(argv[1], "re");
        out = fopen(name, "ae");
        if (!in || !out || pipe2(ready, O_CLOEXEC) < 0)
                error(1, errno, "%s", argv[1]);
        setlinebuf(out);
        while (n_functions < sizeof functions / sizeof *functions &&
               fscanf(in, "%lx", &functions[n_functions].address) == 1)
                n_functions++;
        program = getpid();
        /* The program may wait for its children, and this is none. */
        child = fork();
        if (child == 0) {
                if (fork() == 0) {
                        close(ready[0]);
                        trace(program, ready[1], out);
                }
                return 0;
        }
        waitpid(child, NULL, 0);
        close(ready[1]);
        if (read(ready[0], name, 1) != 1)
                return 1;
        execv(argv[2], argv + 2);
        error(1, errno, "%s", argv[2]);
}
