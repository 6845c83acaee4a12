/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: userns-fd WAY ROUNDS MIB PIN
 *
 * Gets ROUNDS times a file descriptor of a user namespace with three extents, and prints the nanoseconds of
 * each. MIB are touched before: what a runtime holds in memory, and what fork(2) has to copy the tables of.
 *
 *   fork     a child that waits, its maps, its namespace; kill it, reap it
 *   zombie   a child in our memory that ends at once: until it is reaped, maps and namespace are there
 *   pinned   open(2) of PIN, where such a namespace is bind mounted */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char maps[] = "0 1000 100\n2000 5000 100\n3000 10000 100\n";

static int must(int result, const char *what) {
        if (result < 0)
                err(1, "%s", what);
        return result;
}

static void write_map(pid_t pid, const char *name) {
        char path[64];
        int fd;

        snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
        fd = must(open(path, O_WRONLY | O_CLOEXEC), path);
        must((int) write(fd, maps, sizeof maps - 1), path);
        close(fd);
}

static int mapped_namespace(pid_t pid) {
        char path[64];

        write_map(pid, "uid_map");
        write_map(pid, "gid_map");
        snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
        return must(open(path, O_RDONLY | O_CLOEXEC), path);
}

static int wait_for_a_signal(void *unused) {
        (void) unused;
        return pause();
}

static int end(void *unused) {
        (void) unused;
        syscall(SYS_exit, 0);
        return 0;
}

static int from_child(int flags, int (*function)(void *)) {
        static char stack[16384] __attribute__((aligned(16)));
        char *top = stack + sizeof stack;
        pid_t pid = must(clone(function, top, flags | CLONE_NEWUSER | SIGCHLD, NULL), "clone");
        int fd = mapped_namespace(pid);

        if (function == wait_for_a_signal)
                must(kill(pid, SIGKILL), "kill");
        must(waitpid(pid, NULL, 0), "waitpid");
        return fd;
}

static int get(const char *way, const char *pin) {
        if (strcmp(way, "fork") == 0)
                return from_child(0, wait_for_a_signal);
        if (strcmp(way, "zombie") == 0)
                return from_child(CLONE_VM | CLONE_VFORK, end);
        return must(open(pin, O_RDONLY | O_CLOEXEC), pin);
}

static long long nanoseconds(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void make_pin(const char *pin) {
        char path[64];
        int fd = from_child(CLONE_VM | CLONE_VFORK, end);

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        close(must(open(pin, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), pin));
        must(mount(path, pin, NULL, MS_BIND, NULL), pin);
        close(fd);
}

int main(int argc, char **argv) {
        size_t size;

        if (argc != 5)
                errx(2, "usage: userns-fd fork|zombie|pinned ROUNDS MIB PIN");
        size = strtoul(argv[3], NULL, 10) << 20;
        memset(size ? malloc(size) : argv[0], 1, size);
        if (strcmp(argv[1], "pinned") == 0)
                make_pin(argv[4]);
        for (int round = atoi(argv[2]); round > 0; round--) {
                long long began = nanoseconds();
                int fd = get(argv[1], argv[4]);
                printf("%lld\n", nanoseconds() - began);
                close(fd);
        }
        if (strcmp(argv[1], "pinned") == 0)
                must(umount2(argv[4], MNT_DETACH), argv[4]);
        return 0;
}
