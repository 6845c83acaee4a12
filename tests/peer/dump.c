/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A payload that prints all a payload can see, one fact per line, without ids or times that differ from one
 * start to the next. Started from the same .container file by two runtimes, its outputs can be compared
 * line by line.
 *
 *   dump [--output FILE] [--ready] [--hold] [ANYTHING...]
 *
 *   --output FILE   write there instead of to the standard output
 *   --ready         then say READY=1 to $NOTIFY_SOCKET
 *   --hold          then wait for SIGTERM
 *
 * Where a file /dump.reference exists, with the output of 'ls -l /proc/1/ns' of the host, namespaces are
 * reported as 'same' or 'private'.
 *
 * Static and without name service: it has to run in an empty image.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Lines {
        char **line;
        size_t count;
} Lines;

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Takes ownership of 'line'. */
static void lines_add(Lines *lines, char *line) {
        lines->line = reallocarray(lines->line, lines->count + 1, sizeof(char *));
        if (!lines->line || !line)
                abort();
        lines->line[lines->count++] = line;
}

static void lines_print_sorted(Lines *lines) {
        qsort(lines->line, lines->count, sizeof(char *), compare_strings);
        for (size_t i = 0; i < lines->count; i++) {
                printf("%s\n", lines->line[i]);
                free(lines->line[i]);
        }
        free(lines->line);
        *lines = (Lines) {};
}

__attribute__((format(printf, 1, 2))) static char *format(const char *format, ...) {
        va_list args;
        char *text;

        va_start(args, format);
        if (vasprintf(&text, format, args) < 0)
                abort();
        va_end(args);
        return text;
}

static const char *error_name(int error) {
        return error == 0 ? "ok" : strerrorname_np(error);
}

/* Reads a whole file; NULL with errno set when that is not possible. */
static char *read_whole(const char *path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        char *text = NULL;
        size_t length = 0;

        if (fd < 0)
                return NULL;
        for (;;) {
                ssize_t n;

                text = realloc(text, length + 65537);
                if (!text)
                        abort();
                n = read(fd, text + length, 65536);
                if (n < 0) {
                        int error = errno;

                        close(fd);
                        free(text);
                        errno = error;
                        return NULL;
                }
                if (n == 0)
                        break;
                length += (size_t) n;
        }
        close(fd);
        text[length] = '\0';
        return text;
}

static void print_text(const char *label, const char *text) {
        char *copy = strdup(text);
        size_t number = 0;

        for (char *rest = copy, *line; (line = strsep(&rest, "\n"));)
                if (line[0] != '\0' || rest)
                        printf("%s[%zu] %s\n", label, number++, line);
        free(copy);
}

static void print_file(const char *label, const char *path) {
        char *text = read_whole(path);

        if (text)
                print_text(label, text);
        else
                printf("%s: %s\n", label, error_name(errno));
        free(text);
}

static const char *file_type(mode_t mode) {
        switch (mode & S_IFMT) {
        case S_IFREG:
                return "file";
        case S_IFDIR:
                return "directory";
        case S_IFLNK:
                return "link";
        case S_IFCHR:
                return "char";
        case S_IFBLK:
                return "block";
        case S_IFIFO:
                return "fifo";
        case S_IFSOCK:
                return "socket";
        default:
                return "unknown";
        }
}

static char *describe_path(const char *path) {
        struct stat st;
        char target[4096];
        ssize_t n;

        if (lstat(path, &st) < 0)
                return strdup(error_name(errno));
        if (S_ISLNK(st.st_mode)) {
                n = readlink(path, target, sizeof target - 1);
                target[n < 0 ? 0 : n] = '\0';
                return format("link -> %s", target);
        }
        if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
                return format("%s %04o %u:%u %u,%u", file_type(st.st_mode), st.st_mode & 07777, st.st_uid, st.st_gid,
                              major(st.st_rdev), minor(st.st_rdev));
        return format("%s %04o %u:%u", file_type(st.st_mode), st.st_mode & 07777, st.st_uid, st.st_gid);
}

static void dump_arguments(int argc, char **argv) {
        for (int i = 0; i < argc; i++)
                printf("argv[%d] %s\n", i, argv[i]);
}

static void dump_environment(void) {
        Lines sorted = {};

        for (size_t i = 0; environ[i]; i++)
                lines_add(&sorted, format("env %s", environ[i]));
        lines_print_sorted(&sorted);
        for (size_t i = 0; environ[i]; i++)
                printf("env-order[%zu] %.*s\n", i, (int) strcspn(environ[i], "="), environ[i]);
}

/* Ids, groups, capabilities, signals, seccomp: everything that the kernel prints in one place. */
static void dump_status(void) {
        static const char *const wanted[] = {
                "Umask",
                "Uid",
                "Gid",
                "Groups",
                "NSpid",
                "NSsid",
                "SigBlk",
                "SigIgn",
                "SigCgt",
                "CapInh",
                "CapPrm",
                "CapEff",
                "CapBnd",
                "CapAmb",
                "NoNewPrivs",
                "Seccomp",
                "Seccomp_filters",
                "THP_enabled",
                "Cpus_allowed_list",
                "Mems_allowed_list",
        };
        char *text = read_whole("/proc/self/status");

        if (!text) {
                printf("status: %s\n", error_name(errno));
                return;
        }
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
                char *value = strchr(line, ':');

                if (!value)
                        continue;
                *value++ = '\0';
                value += strspn(value, " \t");
                for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
                        if (strcmp(line, wanted[i]) == 0)
                                printf("status %s %s\n", line, value);
        }
        free(text);
}

static void dump_limits(void) {
        static const struct {
                const char *name;
                int resource;
        } limits[] = {
                { "as", RLIMIT_AS },           { "core", RLIMIT_CORE },         { "cpu", RLIMIT_CPU },
                { "data", RLIMIT_DATA },       { "fsize", RLIMIT_FSIZE },       { "locks", RLIMIT_LOCKS },
                { "memlock", RLIMIT_MEMLOCK }, { "msgqueue", RLIMIT_MSGQUEUE }, { "nice", RLIMIT_NICE },
                { "nofile", RLIMIT_NOFILE },   { "nproc", RLIMIT_NPROC },       { "rss", RLIMIT_RSS },
                { "rtprio", RLIMIT_RTPRIO },   { "rttime", RLIMIT_RTTIME },     { "sigpending", RLIMIT_SIGPENDING },
                { "stack", RLIMIT_STACK },
        };

        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
                struct rlimit limit;

                if (getrlimit((__rlimit_resource_t) limits[i].resource, &limit) < 0)
                        printf("limit %s %s\n", limits[i].name, error_name(errno));
                else
                        printf("limit %s %lld %lld\n", limits[i].name, (long long) limit.rlim_cur,
                               (long long) limit.rlim_max);
        }
}

static void dump_keyring(void) {
        char text[256] = "";
        long n = syscall(SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, text, sizeof text - 1);

        printf("keyring %s\n", n < 0 ? error_name(errno) : text);
}

static void dump_process(void) {
        char cwd[4096], exe[4096];
        struct utsname uts;
        int subreaper = -1, pdeathsig = -1, tty;
        ssize_t n;

        printf("pid %d ppid %d pgid %d sid %d\n", getpid(), getppid(), getpgrp(), getsid(0));
        tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
        printf("controlling-terminal %s\n", error_name(tty < 0 ? errno : 0));
        if (tty >= 0)
                close(tty);

        printf("cwd %s\n", getcwd(cwd, sizeof cwd) ? cwd : error_name(errno));
        n = readlink("/proc/self/exe", exe, sizeof exe - 1);
        exe[n < 0 ? 0 : n] = '\0';
        printf("exe %s\n", exe);
        uname(&uts);
        printf("hostname %s\ndomainname %s\n", uts.nodename, uts.domainname);

        printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
        printf("scheduler %d\n", sched_getscheduler(0));
        printf("ioprio %ld\n", syscall(SYS_ioprio_get, 1, 0));
        printf("timerslack %d\n", prctl(PR_GET_TIMERSLACK));
        printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
        printf("keepcaps %d\n", prctl(PR_GET_KEEPCAPS));
        printf("securebits %d\n", prctl(PR_GET_SECUREBITS));
        prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
        prctl(PR_GET_PDEATHSIG, &pdeathsig);
        printf("subreaper %d\npdeathsig %d\n", subreaper, pdeathsig);
        dump_keyring();

        print_file("oom_score_adj", "/proc/self/oom_score_adj");
        print_file("cgroup", "/proc/self/cgroup");
        print_file("personality", "/proc/self/personality");
        print_file("uid_map", "/proc/self/uid_map");
        print_file("gid_map", "/proc/self/gid_map");
        print_file("setgroups", "/proc/self/setgroups");
        print_file("label", "/proc/self/attr/current");
}

static void dump_namespaces(void) {
        static const char *const kinds[] = { "cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts" };
        char *reference = read_whole("/dump.reference");

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                char path[64], link[64];
                ssize_t n;

                snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
                n = readlink(path, link, sizeof link - 1);
                link[n < 0 ? 0 : n] = '\0';
                printf("namespace %s %s\n", kinds[i],
                       n < 0                   ? error_name(errno) :
                       !reference              ? "exists" :
                       strstr(reference, link) ? "same" :
                                                 "private");
        }
        free(reference);
}

/* Options of the super block that name what only one start has. */
static bool is_of_one_start(const char *option) {
        static const char *const prefixes[] = { "lowerdir", "upperdir=", "workdir=", "uuid=", "xino=" };

        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
                if (strncmp(option, prefixes[i], strlen(prefixes[i])) == 0)
                        return true;
        return false;
}

static void drop_options_of_one_start(char *options) {
        char *copy = strdup(options), *end = options;

        *end = '\0';
        for (char *rest = copy, *option; (option = strsep(&rest, ","));)
                if (!is_of_one_start(option))
                        end += sprintf(end, "%s%s", end == options ? "" : ",", option);
        free(copy);
}

/*
 * id parent major:minor root point options [tag:N...] - type source super-options
 *
 * Kept: point, type, options, kinds of propagation, super options; and whether it is the root of its file
 * system, or something bound out of it.
 */
static char *normalise_mount(char *line) {
        char *fields[64];
        size_t count = 0, dash = 0;
        char propagation[256] = "private";

        for (char *rest = line, *field; count < 64 && (field = strsep(&rest, " "));)
                fields[count++] = field;
        for (size_t i = 6; i < count && dash == 0; i++)
                if (strcmp(fields[i], "-") == 0)
                        dash = i;
        if (dash == 0 || dash + 3 >= count)
                return strdup("mount unparseable");
        for (size_t i = 6; i < dash; i++) {
                fields[i][strcspn(fields[i], ":")] = '\0';
                snprintf(propagation, sizeof propagation, "%s%s%s", i == 6 ? "" : propagation, i == 6 ? "" : ",",
                         fields[i]);
        }
        drop_options_of_one_start(fields[dash + 3]);
        return format("mount %s %s %s %s %s %s", fields[4], fields[dash + 1],
                      strcmp(fields[3], "/") == 0 ? "whole" : "bound", fields[5], propagation, fields[dash + 3]);
}

static void dump_mounts(void) {
        char *text = read_whole("/proc/self/mountinfo");
        Lines lines = {};

        if (!text) {
                printf("mount: %s\n", error_name(errno));
                return;
        }
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
                if (line[0] != '\0')
                        lines_add(&lines, normalise_mount(line));
        lines_print_sorted(&lines);
        free(text);
}

static void collect_tree(Lines *lines, const char *label, const char *directory, int depth) {
        DIR *dir = opendir(directory);

        if (!dir) {
                lines_add(lines, format("%s %s: %s", label, directory, error_name(errno)));
                return;
        }
        for (struct dirent *entry; (entry = readdir(dir));) {
                char *path, *what;

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                path = format("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, entry->d_name);
                what = describe_path(path);
                lines_add(lines, format("%s %s %s", label, path, what));
                if (depth > 0 && strncmp(what, "directory", 9) == 0)
                        collect_tree(lines, label, path, depth - 1);
                free(path);
                free(what);
        }
        closedir(dir);
}

static void dump_tree(const char *label, const char *directory, int depth) {
        Lines lines = {};

        collect_tree(&lines, label, directory, depth);
        lines_print_sorted(&lines);
}

static void dump_descriptors(void) {
        for (int fd = 0; fd < 1024; fd++) {
                char path[64], target[4096];
                struct stat st;
                ssize_t n;

                if (fstat(fd, &st) < 0)
                        continue;
                snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
                n = readlink(path, target, sizeof target - 1);
                target[n < 0 ? 0 : n] = '\0';
                /* 'pipe:[123]' says no more than the type. */
                printf("fd %d %s flags %#o cloexec %d %s\n", fd, file_type(st.st_mode), (unsigned) fcntl(fd, F_GETFL),
                       fcntl(fd, F_GETFD), target[0] == '/' ? target : "");
        }
}

static void dump_masked(const char *path) {
        struct statvfs vfs;
        char *what = describe_path(path);
        const char *content = "ENOENT";
        char *text = NULL;

        if (strncmp(what, "directory", 9) == 0) {
                DIR *dir = opendir(path);
                size_t count = 0;

                for (struct dirent *entry; dir && (entry = readdir(dir));)
                        count += entry->d_name[0] != '.';
                content = !dir ? error_name(errno) : count == 0 ? "empty" : "full";
                if (dir)
                        closedir(dir);
        } else if (strcmp(what, "ENOENT") != 0) {
                int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
                char byte;
                ssize_t n = fd < 0 ? -1 : read(fd, &byte, 1);

                content = n < 0 ? error_name(errno) : n == 0 ? "empty" : "full";
                if (fd >= 0)
                        close(fd);
        }
        printf("masked %s %s %s %s\n", path, what, content,
               statvfs(path, &vfs) < 0 ? "-" :
               vfs.f_flag & ST_RDONLY  ? "ro" :
                                         "rw");
        free(what);
        free(text);
}

static void dump_protected_paths(void) {
        static const char *const paths[] = {
                "/proc/acpi",
                "/proc/interrupts",
                "/proc/kcore",
                "/proc/keys",
                "/proc/latency_stats",
                "/proc/sched_debug",
                "/proc/scsi",
                "/proc/timer_list",
                "/proc/timer_stats",
                "/sys/firmware",
                "/sys/fs/selinux",
                "/sys/devices/virtual/powercap",
                "/sys/dev/block",
                "/sys/devices/system/cpu/cpu0/thermal_throttle",
                "/proc/asound",
                "/proc/bus",
                "/proc/fs",
                "/proc/irq",
                "/proc/sys",
                "/proc/sysrq-trigger",
                "/proc/kallsyms",
                "/proc/modules",
                "/proc/mounts",
                "/sys",
                "/sys/fs/cgroup",
                "/sys/kernel/debug",
                "/sys/class",
                "/dev/shm",
                "/dev/mqueue",
        };

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                dump_masked(paths[i]);
}

static void dump_sysctls(void) {
        static const char *const names[] = {
                "kernel/hostname",
                "kernel/domainname",
                "kernel/msgmax",
                "kernel/sem",
                "kernel/shmmax",
                "kernel/shm_rmid_forced",
                "fs/mqueue/msg_max",
                "fs/mqueue/queues_max",
                "net/core/somaxconn",
                "net/ipv4/ip_forward",
                "net/ipv4/ip_unprivileged_port_start",
                "net/ipv4/ping_group_range",
                "net/ipv6/conf/all/disable_ipv6",
        };

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                char *path = format("/proc/sys/%s", names[i]), *label = format("sysctl %s", names[i]);

                print_file(label, path);
                free(path);
                free(label);
        }
}

static void dump_sizes(void) {
        static const char *const paths[] = { "/dev", "/dev/shm", "/run", "/tmp", "/var/tmp", "/run/lock" };

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                struct statvfs vfs;

                /* Only a tmpfs, whose blocks are pages, has a size that the container's options decide; others have
                 * the disk's. */
                if (statvfs(paths[i], &vfs) == 0 && vfs.f_bsize == (unsigned long) sysconf(_SC_PAGESIZE) &&
                    vfs.f_blocks < (1UL << 24))
                        printf("size %s %llu\n", paths[i], (unsigned long long) vfs.f_blocks * vfs.f_frsize);
        }
}

static void dump_files(void) {
        static const char *const contents[] = { "/etc/hosts",  "/etc/hostname", "/etc/resolv.conf",
                                                "/etc/passwd", "/etc/group",    "/run/.containerenv" };
        static const char *const places[] = { "/",
                                              "/tmp",
                                              "/run",
                                              "/run/secrets",
                                              "/run/notify",
                                              "/var/tmp",
                                              "/etc",
                                              "/etc/hosts",
                                              "/etc/hostname",
                                              "/etc/resolv.conf",
                                              "/etc/mtab",
                                              "/run/.containerenv",
                                              "/dev/shm",
                                              "/proc/self/root" };

        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                char *what = describe_path(places[i]);

                printf("path %s %s\n", places[i], what);
                free(what);
        }
        for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
                char *label = format("content %s", contents[i]);

                print_file(label, contents[i]);
                free(label);
        }
        dump_tree("root", "/", 0);
        dump_tree("run", "/run", 1);
}

/* Whether files can be made there: options of a mount do not say all. */
static void dump_writable(void) {
        static const char *const paths[] = { "/",    "/dev", "/dev/shm", "/etc",
                                             "/run", "/tmp", "/var/tmp", "/sys/fs/cgroup" };

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                char *path = format("%s/.dump-probe", strcmp(paths[i], "/") == 0 ? "" : paths[i]);
                int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

                printf("writable %s %s\n", paths[i], error_name(fd < 0 ? errno : 0));
                if (fd >= 0) {
                        unlink(path);
                        close(fd);
                }
                free(path);
        }
}

/*
 * System calls whose error tells a filter from the kernel's own refusal. All have arguments with which they
 * could never do anything.
 */
static const struct {
        const char *name;
        long number;
        unsigned long args[5];
} probes[] = {
        { "acct", SYS_acct, { 1 } },
        { "add_key", SYS_add_key, { 0, 0, 0, 0, 0 } },
        { "bpf", SYS_bpf, { 9999, 0, 0 } },
        { "chroot", SYS_chroot, { 0 } },
        { "clone-newuser", SYS_unshare, { CLONE_NEWUSER | CLONE_SIGHAND } },
        { "clone3", SYS_clone3, { 0, 0 } },
        { "delete_module", SYS_delete_module, { 0, 0 } },
        { "fanotify_init", SYS_fanotify_init, { ~0UL, 0 } },
        { "finit_module", SYS_finit_module, { ~0UL, 0, 0 } },
        { "fsopen", SYS_fsopen, { 0, 0 } },
        { "init_module", SYS_init_module, { 0, 0, 0 } },
        { "io_uring_setup", SYS_io_uring_setup, { 0, 0 } },
        { "kcmp", SYS_kcmp, { 0, 0, 99, 0, 0 } },
        { "kexec_load", SYS_kexec_load, { 0, 99, 0, ~0UL } },
        { "keyctl", SYS_keyctl, { 9999, 0, 0, 0, 0 } },
        { "lookup_dcookie", SYS_lookup_dcookie, { 0, 0, 0 } },
        { "mount", SYS_mount, { 0, 0, 0, 0, 0 } },
        { "move_pages", SYS_move_pages, { 0, 0, 0, 0, 0 } },
        { "name_to_handle_at", SYS_name_to_handle_at, { 0, 0, 0, 0, 0 } },
        { "not-a-call", 9999, { 0 } },
        { "open_by_handle_at", SYS_open_by_handle_at, { ~0UL, 0, 0 } },
        { "perf_event_open", SYS_perf_event_open, { 0, 0, 0, 0, 0 } },
        { "personality", SYS_personality, { 0x0400000 } },
        { "pidfd_getfd", SYS_pidfd_getfd, { ~0UL, 0, 0 } },
        { "pivot_root", SYS_pivot_root, { 0, 0 } },
        { "process_vm_readv", SYS_process_vm_readv, { 0, 0, 0, 0, 0 } },
        { "ptrace", SYS_ptrace, { 9999, 0, 0, 0 } },
        { "quotactl", SYS_quotactl, { ~0UL, 0, 0, 0 } },
        { "reboot", SYS_reboot, { 0, 0, 0, 0 } },
        { "request_key", SYS_request_key, { 0, 0, 0, 0 } },
        { "setdomainname", SYS_setdomainname, { 0, ~0UL } },
        { "sethostname", SYS_sethostname, { 0, ~0UL } },
        { "setns", SYS_setns, { ~0UL, 0 } },
        { "settimeofday", SYS_settimeofday, { 1, 1 } },
        { "socket-alg", SYS_socket, { 38, 5, 9999 } },
        { "socket-netlink-audit", SYS_socket, { 16, 3, 9 } },
        { "socket-packet", SYS_socket, { 17, 3, 0 } },
        { "socket-raw", SYS_socket, { 2, 3, 1 } },
        { "socket-vsock", SYS_socket, { 40, 1, 0 } },
        { "swapoff", SYS_swapoff, { 0 } },
        { "swapon", SYS_swapon, { 0, 0 } },
        { "syslog", SYS_syslog, { 10, 0, 0 } },
        { "umount2", SYS_umount2, { 0, ~0UL } },
        { "unshare-mnt", SYS_unshare, { CLONE_NEWNS } },
        { "unshare-nothing", SYS_unshare, { 0 } },
        { "unshare-uts", SYS_unshare, { CLONE_NEWUTS } },
        { "userfaultfd", SYS_userfaultfd, { ~0UL } },
};

/* In a child: a filter may kill, and a call that unexpectedly works must not change the process itself. */
static void dump_system_calls(void) {
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
                const unsigned long *a = probes[i].args;
                int status = 0;
                pid_t pid;

                fflush(stdout);
                pid = fork();
                if (pid == 0)
                        _exit(syscall(probes[i].number, a[0], a[1], a[2], a[3], a[4], 0) < 0 ? errno : 0);
                if (pid < 0 || waitpid(pid, &status, 0) < 0)
                        printf("call %s cannot be probed: %s\n", probes[i].name, error_name(errno));
                else if (WIFSIGNALED(status))
                        printf("call %s killed %d\n", probes[i].name, WTERMSIG(status));
                else
                        printf("call %s %s\n", probes[i].name, error_name(WEXITSTATUS(status)));
        }
}

/* Interfaces from the kernel's own list: it needs no socket. */
static void dump_network(void) {
        char *text = read_whole("/proc/self/net/dev");
        Lines lines = {};

        for (char *rest = text, *line; text && (line = strsep(&rest, "\n"));) {
                char *colon = strchr(line, ':');

                if (!colon)
                        continue;
                *colon = '\0';
                lines_add(&lines, format("interface %s", line + strspn(line, " ")));
        }
        lines_print_sorted(&lines);
        free(text);
}

static void say_ready(void) {
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        socklen_t length;
        int fd;

        if (!path || strlen(path) >= sizeof address.sun_path) {
                fprintf(stderr, "dump: no usable NOTIFY_SOCKET\n");
                exit(1);
        }
        strcpy(address.sun_path, path);
        length = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(path));
        if (path[0] == '@')
                address.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || sendto(fd, "READY=1", 7, 0, (struct sockaddr *) &address, length) < 0) {
                fprintf(stderr, "dump: cannot notify '%s': %s\n", path, strerror(errno));
                exit(1);
        }
        close(fd);
}

static void hold(void) {
        sigset_t signals;
        int number;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigprocmask(SIG_BLOCK, &signals, NULL);
        sigwait(&signals, &number);
}

int main(int argc, char **argv) {
        const char *output = NULL;
        bool ready = false, holding = false;

        for (int i = 1; i < argc; i++) {
                if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
                        output = argv[++i];
                else if (strcmp(argv[i], "--ready") == 0)
                        ready = true;
                else if (strcmp(argv[i], "--hold") == 0)
                        holding = true;
        }

        /* Before anything of ours is opened. Kept in memory: the output may replace a descriptor. */
        char *descriptors = NULL;
        size_t length = 0;
        FILE *real = stdout;

        stdout = open_memstream(&descriptors, &length);
        dump_descriptors();
        fclose(stdout);
        stdout = real;

        if (output && !freopen(output, "we", stdout)) {
                fprintf(stderr, "dump: cannot write '%s': %s\n", output, strerror(errno));
                return 1;
        }

        dump_arguments(argc, argv);
        dump_environment();
        dump_process();
        dump_status();
        dump_limits();
        dump_namespaces();
        fputs(descriptors, stdout);
        dump_mounts();
        dump_tree("device", "/dev", 2);
        dump_protected_paths();
        dump_sysctls();
        dump_sizes();
        dump_files();
        dump_writable();
        dump_network();
        dump_system_calls();
        free(descriptors);

        if (fflush(stdout) != 0) {
                fprintf(stderr, "dump: cannot write: %s\n", strerror(errno));
                return 1;
        }
        if (ready)
                say_ready();
        if (holding)
                hold();
        return 0;
}
