/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A payload among the machine's processes: looks for keyturn's own, and tries to get at what they hold, all the time.
 * Says what it got, once for each way; and what it has seen at all, so that a test knows that it looked. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char said[100][80];

static void say(const char *what, const char *comm) {
        char line[80];

        snprintf(line, sizeof line, "%s %s\n", what, comm);
        for (int i = 0; i < 100; i++) {
                if (strcmp(said[i], line) == 0)
                        return;
                if (!said[i][0]) {
                        strcpy(said[i], line);
                        fputs(line, stdout);
                        fflush(stdout);
                        return;
                }
        }
}

static bool can_read(const char *pid, const char *file, int flags, char *buffer, size_t size) {
        char path[64];
        int fd;
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%s/%s", pid, file);
        fd = open(path, flags);
        if (fd < 0)
                return false;
        n = flags & (O_DIRECTORY | O_RDWR) ? 0 : read(fd, buffer, size - 1);
        close(fd);
        if (n >= 0)
                buffer[n] = '\0';
        return n > 0 || flags & (O_DIRECTORY | O_RDWR);
}

/* A process that is the payload by now is another payload, and no secret to this one. */
static void say_got(const char *what, const char *pid, const char *comm) {
        char now[64] = "";

        if (can_read(pid, "comm", O_RDONLY, now, sizeof now) && strncmp(now, comm, strlen(comm)) == 0)
                say(what, comm);
}

static void rob(const char *pid, const char *comm) {
        static const struct {
                const char *file;
                int flags;
                const char *what;
        } files[] = {
                { "environ", O_RDONLY, "GOT environ" }, /* of somebody who may not it is empty, or an error */
                { "maps", O_RDONLY, "GOT maps" },
                { "mem", O_RDWR, "GOT mem" },
                { "auxv", O_RDONLY, "GOT auxv" },
                { "root/etc", O_RDONLY | O_DIRECTORY, "GOT root" },
                { "cwd/.", O_RDONLY | O_DIRECTORY, "GOT cwd" },
        };
        char buffer[4096], path[64];
        int fd;

        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                if (can_read(pid, files[i].file, files[i].flags, buffer, sizeof buffer))
                        say_got(files[i].what, pid, comm);
        snprintf(path, sizeof path, "/proc/%s/fd/0", pid);
        if (readlink(path, buffer, sizeof buffer) > 0)
                say_got("GOT fd", pid, comm);
        fd = (int) syscall(SYS_pidfd_open, atoi(pid), 0);
        if (fd >= 0) {
                int got = (int) syscall(SYS_pidfd_getfd, fd, 0, 0); /* asks what ptrace(2) asks */

                if (got >= 0) {
                        say_got("GOT pidfd_getfd", pid, comm);
                        close(got);
                }
                close(fd);
        }
}

int main(void) {
        for (;;) {
                DIR *proc = opendir("/proc");
                struct dirent *entry;

                while ((entry = readdir(proc))) {
                        char comm[4096];

                        if (!isdigit(entry->d_name[0]) || atoi(entry->d_name) == getpid() ||
                            !can_read(entry->d_name, "comm", O_RDONLY, comm, sizeof comm))
                                continue;
                        comm[strcspn(comm, "\n")] = '\0';
                        if (strncmp(comm, "libstart", 8) == 0 || strncmp(comm, "keyturn", 7) == 0) {
                                say("seen", comm);
                                rob(entry->d_name, comm);
                        } else if (strcmp(comm, "sleep") == 0 &&
                                   can_read(entry->d_name, "environ", O_RDONLY, comm, sizeof comm))
                                say("control:", "the variables of another payload");
                }
                closedir(proc);
        }
}
