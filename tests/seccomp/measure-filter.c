/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* measure-filter [FILTER.bpf...]
 *
 * What filters cost: loading one, and system calls under one compared with the same calls without any.
 * Each round measures every filter (and "none") once, in a process of its own; medians of the rounds are
 * printed. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 41
#define GETPID_CALLS 400000
#define MIXED_CALLS 4000
#define ARGUMENT_CALLS 100000

typedef struct Result {
        double load;      /* µs for seccomp(2) itself */
        double getpid;    /* ns a call */
        double mixed;     /* ns a turn of several calls */
        double arguments; /* ns for personality(2), whose verdict depends on its argument */
} Result;

static double now(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static double load(const char *name) {
        gsize size;
        char *program;

        if (!g_file_get_contents(name, &program, &size, NULL))
                g_error("cannot read '%s'", name);
        struct sock_fprog prog = { .len = (unsigned short) (size / sizeof(struct sock_filter)),
                                   .filter = (void *) program };
        double start;
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        start = now();
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog) < 0)
                g_error("cannot load '%s': %s", name, g_strerror(errno));
        return (now() - start) / 1e3;
}

/* What a small server does: files, memory, a socket, a pipe. */
static void mixed_turn(const int pair[2], const int file) {
        char buffer[4096];
        struct stat st;

        if (pread(file, buffer, sizeof buffer, 0) < 0 || fstat(file, &st) < 0)
                g_error("cannot read");
        if (write(pair[0], buffer, 512) != 512 || read(pair[1], buffer, sizeof buffer) != 512)
                g_error("cannot use the socket");
        int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, buffer, sizeof buffer) < 0)
                g_error("cannot read comm");
        close(fd);
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *(volatile char *) page = 1;
        munmap(page, 4096);
}

static Result measure(const char *name) {
        Result result = { 0 };
        int pair[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        double start;

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
                g_error("no sockets");
        if (name)
                result.load = load(name);
        start = now();
        for (int i = 0; i < GETPID_CALLS; i++)
                syscall(SYS_getpid);
        result.getpid = (now() - start) / GETPID_CALLS;
        start = now();
        for (int i = 0; i < ARGUMENT_CALLS; i++)
                syscall(SYS_personality, 0xffffffffU);
        result.arguments = (now() - start) / ARGUMENT_CALLS;
        for (int i = 0; i < MIXED_CALLS / 10; i++)
                mixed_turn(pair, file);
        start = now();
        for (int i = 0; i < MIXED_CALLS; i++)
                mixed_turn(pair, file);
        result.mixed = (now() - start) / MIXED_CALLS;
        return result;
}

static Result measure_in_child(const char *name) {
        Result result;
        int pipe_fds[2], status;

        if (pipe(pipe_fds) < 0)
                g_error("no pipe");
        pid_t child = fork();
        if (child == 0) {
                result = measure(name);
                _exit(write(pipe_fds[1], &result, sizeof result) == sizeof result ? 0 : 1);
        }
        close(pipe_fds[1]);
        if (read(pipe_fds[0], &result, sizeof result) != sizeof result || waitpid(child, &status, 0) != child ||
            status)
                g_error("the measuring process failed");
        close(pipe_fds[0]);
        return result;
}

static int compare(gconstpointer a, gconstpointer b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static double median(const Result *results, size_t offset) {
        double values[ROUNDS];

        for (size_t i = 0; i < ROUNDS; i++)
                values[i] = *(const double *) (const void *) ((const char *) &results[i] + offset);
        qsort(values, ROUNDS, sizeof values[0], compare);
        return values[ROUNDS / 2];
}

int main(int argc, char **argv) {
        g_autofree Result *results = g_new(Result, (size_t) argc * ROUNDS);

        for (int round = 0; round < ROUNDS; round++)
                for (int i = 0; i < argc; i++)
                        results[i * ROUNDS + round] = measure_in_child(i > 0 ? argv[i] : NULL);
        printf("%-24s %10s %10s %12s %10s\n", "filter", "load µs", "getpid ns", "personality", "mixed ns");
        for (int i = 0; i < argc; i++)
                printf("%-24s %9.1f %10.1f %12.1f %10.1f\n", i > 0 ? argv[i] : "none",
                       median(&results[i * ROUNDS], offsetof(Result, load)),
                       median(&results[i * ROUNDS], offsetof(Result, getpid)),
                       median(&results[i * ROUNDS], offsetof(Result, arguments)),
                       median(&results[i * ROUNDS], offsetof(Result, mixed)));
        return EXIT_SUCCESS;
}
