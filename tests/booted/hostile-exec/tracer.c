/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Takes each process that comes into its pid namespace, at the first moment at which it is there, and says what it
 * has: capabilities, whether it has a filter, what it has open, and a secret of the caller's in its environment. */

static unsigned long long read_field(int pid, const char *name, int base) {
        char path[64], line[256];
        unsigned long long value = 0;
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/status", pid);
        file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
                if (strncmp(line, name, strlen(name)) == 0)
                        value = strtoull(line + strlen(name), NULL, base);
        if (file)
                fclose(file);
        return value;
}

static void print_open(int pid) {
        char path[64], link[300], target[4096];
        struct dirent *entry;
        DIR *directory;

        snprintf(path, sizeof path, "/proc/%d/fd", pid);
        directory = opendir(path);
        while (directory && (entry = readdir(directory))) {
                snprintf(link, sizeof link, "%s/%s", path, entry->d_name);
                ssize_t n = readlink(link, target, sizeof target - 1);
                if (n > 0)
                        printf(" %.*s", (int) n, target);
        }
        if (directory)
                closedir(directory);
}

static void print_environment(int pid) {
        char path[64], text[4096];
        size_t n = 0;
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/environ", pid);
        file = fopen(path, "re");
        if (file)
                n = fread(text, 1, sizeof text, file);
        for (size_t i = 0; i + 6 <= n; i++)
                if (memcmp(text + i, "SECRET", 6) == 0)
                        printf(" SECRET");
        if (file)
                fclose(file);
}

static bool take(int pid) {
        int status;

        if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
                return false;
        if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid &&
            WIFSTOPPED(status)) {
                printf("%llx %llu", read_field(pid, "CapPrm:", 16) | read_field(pid, "CapBnd:", 16),
                       read_field(pid, "Seccomp:", 10));
                print_open(pid);
                print_environment(pid);
                printf("\n");
                fflush(stdout);
        }
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
        return true;
}

int main(void) {
        printf("%llx %llu\n", read_field(getpid(), "CapPrm:", 16) | read_field(getpid(), "CapBnd:", 16),
               read_field(getpid(), "Seccomp:", 10));
        fflush(stdout);
        /* Some come and go unseen. */
        for (int next = getpid() + 1;;)
                for (int pid = next; pid < next + 32; pid++)
                        if (take(pid)) {
                                next = pid + 1;
                                break;
                        }
}
