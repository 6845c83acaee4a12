/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: floor LOWERDIRS FILTER|- COMMAND [ARG...]
 *
 * Only what the kernel must do for a default container: a lower bound to measure against. It makes none of
 * the checks that a container needs: never run anything in it that is not trusted. FILTER is a seccomp
 * filter as raw BPF. */
#include <err.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE "/run/keyturn-floor"
/* chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, sys_chroot and
 * setfcap: Podman's default */
#define DEFAULT_CAPABILITIES 0x800405fbU

enum { SAFE = MS_NOSUID | MS_NOEXEC | MS_NODEV };

static const struct {
        const char *type, *at, *options;
        unsigned long flags;
} mounts[] = {
        { "proc", "proc", NULL, SAFE },
        { "tmpfs", "dev", "mode=755,size=64m", MS_NOSUID },
        { "devpts", "dev/pts", "newinstance,ptmxmode=0666,mode=0620,gid=5", MS_NOSUID | MS_NOEXEC },
        { "tmpfs", "dev/shm", "mode=1777,size=64m", SAFE },
        { "mqueue", "dev/mqueue", NULL, SAFE },
        { "sysfs", "sys", NULL, SAFE | MS_RDONLY },
        { "cgroup2", "sys/fs/cgroup", NULL, SAFE | MS_RDONLY },
};
static const struct {
        const char *at;
        unsigned int major, minor;
} nodes[] = {
        { "dev/null", 1, 3 },   { "dev/zero", 1, 5 },    { "dev/full", 1, 7 },
        { "dev/random", 1, 8 }, { "dev/urandom", 1, 9 }, { "dev/tty", 5, 0 },
};
static const char *const links[][2] = {
        { "/proc/self/fd", "dev/fd" },       { "/proc/self/fd/0", "dev/stdin" }, { "/proc/self/fd/1", "dev/stdout" },
        { "/proc/self/fd/2", "dev/stderr" }, { "pts/ptmx", "dev/ptmx" },
};
static const char *const masked[] = {
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
        "/sys/devices/virtual/powercap",
};
static const char *const read_only[] = {
        "/proc/asound", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static void must(long result, const char *what) {
        if (result < 0)
                err(125, "floor: %s", what);
}

static void enter_root(const char *lower) {
        char options[8192];

        must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
        must(mount("tmpfs", BASE, "tmpfs", 0, "mode=700"), BASE);
        must(mkdir(BASE "/u", 0755) | mkdir(BASE "/w", 0755) | mkdir(BASE "/m", 0755), "mkdir");
        snprintf(options, sizeof options, "lowerdir=%s,upperdir=" BASE "/u,workdir=" BASE "/w,volatile", lower);
        must(mount("overlay", BASE "/m", "overlay", MS_NODEV, options), options);
        must(chdir(BASE "/m"), "chdir");
}

static void fill_root(void) {
        for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
                mkdir(mounts[i].at, 0755);
                must(mount(mounts[i].type, mounts[i].at, mounts[i].type, mounts[i].flags, mounts[i].options),
                     mounts[i].at);
        }
        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
                must(mknod(nodes[i].at, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)), nodes[i].at);
        for (size_t i = 0; i < sizeof links / sizeof *links; i++)
                must(symlink(links[i][0], links[i][1]), links[i][1]);
        must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
        must(umount2(".", MNT_DETACH), "umount");
        must(chdir("/"), "chdir /");
}

static void make_read_only(const char *path) {
        if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) == 0)
                must(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | SAFE, NULL), path);
}

static void mask(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return;
        if (S_ISDIR(st.st_mode))
                must(mount("tmpfs", path, "tmpfs", MS_RDONLY, "size=0k"), path);
        else
                must(mount("/dev/null", path, NULL, MS_BIND, NULL), path);
}

static void hide_paths(void) {
        for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++)
                make_read_only(read_only[i]);
        for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
                mask(masked[i]);
}

/* Before the capabilities go: without CAP_SYS_ADMIN it would need no_new_privs. */
static void load_filter(int fd) {
        static struct sock_filter program[8192];
        ssize_t size = read(fd, program, sizeof program);
        struct sock_fprog filter = { .filter = program };

        must(size, "reading the filter");
        filter.len = (unsigned short) ((size_t) size / sizeof *program);
        must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter), "seccomp");
}

static void drop_capabilities(void) {
        struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
        struct __user_cap_data_struct data[2] = { { DEFAULT_CAPABILITIES, DEFAULT_CAPABILITIES, 0 } };

        for (int c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++)
                if (c > 31 || !(DEFAULT_CAPABILITIES >> c & 1))
                        must(prctl(PR_CAPBSET_DROP, c), "bounding set");
        must(syscall(SYS_capset, &header, data), "capset");
}

static void become_container(char **argv) {
        int filter = -1;

        if (strcmp(argv[2], "-") != 0)
                must(filter = open(argv[2], O_RDONLY | O_CLOEXEC), argv[2]);
        enter_root(argv[1]);
        fill_root();
        hide_paths();
        must(sethostname("floor", 5), "sethostname");
        must(setsid(), "setsid");
        if (filter >= 0)
                load_filter(filter);
        drop_capabilities();
        must(execv(argv[3], argv + 3), argv[3]);
}

int main(int argc, char **argv) {
        struct clone_args args = {
                .flags = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWCGROUP,
                .exit_signal = SIGCHLD,
        };
        int status;

        if (argc < 4)
                errx(2, "usage: floor LOWERDIRS FILTER|- COMMAND [ARG...]");
        mkdir(BASE, 0700);
        long pid = syscall(SYS_clone3, &args, sizeof args);
        must(pid, "clone3");
        if (pid == 0)
                become_container(argv);
        must(waitpid((pid_t) pid, &status, 0), "waitpid");
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
