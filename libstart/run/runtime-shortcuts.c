/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libcrun/scheduler.h>
#include <libcrun/utils.h>
#include <string.h>
#include <unistd.h>

#include "libstart/run/runtime-hooks.h"

/* What libcrun asks or does at each start, and nobody needs: as in runtime-hooks.c, the linker's --wrap redirects the
 * calls. Each would take 10 to 50 us, NSS more. Those with a meaning beyond libcrun are what they were while no container
 * is run. */

int __wrap_libcrun_initialize_selinux(libcrun_error_t *err);
int __wrap_libcrun_reset_cpu_affinity_mask(pid_t pid, libcrun_error_t *err);
void __wrap_get_current_timestamp(char *out, size_t size);
char *__wrap_get_user_name(uid_t uid);
int __real_crun_ensure_directory(const char *path, int mode, bool nofollow, libcrun_error_t *err);
int __wrap_crun_ensure_directory(const char *path, int mode, bool nofollow, libcrun_error_t *err);
ssize_t __real_readlink(const char *path, char *target, size_t size);
ssize_t __wrap_readlink(const char *path, char *target, size_t size);

/* It would read all of the host's mounts to find out whether SELinux is there; our spec has no labels. */
int __wrap_libcrun_initialize_selinux(libcrun_error_t *err) {
        return 0;
}

/* For containers that move to another cgroup; ours stay in the unit's, and with its CPUAffinity=. */
int __wrap_libcrun_reset_cpu_affinity_mask(pid_t pid, libcrun_error_t *err) {
        return 0;
}

/* In the state file. libcrun's gmtime_r(3) reads /etc/localtime first, for a time that is in UTC. */
void __wrap_get_current_timestamp(char *out, size_t size) {
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        int year, month, day;

        g_date_time_get_ymd(now, &year, &month, &day);
        g_snprintf(out, size, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, month, day, g_date_time_get_hour(now),
                   g_date_time_get_minute(now), g_date_time_get_second(now), g_date_time_get_microsecond(now));
}

/* The owner's name in the state file, which libcrun would ask NSS for: in a static program that loads libraries, and
 * with nss-systemd it talks to a daemon. Only root runs libstart. */
char *__wrap_get_user_name(uid_t uid) {
        return strdup("root");
}

/* libcrun makes its directory, or sees that it is there, whenever it needs a path in it; state_dir_make() has made
 * it. */
int __wrap_crun_ensure_directory(const char *path, int mode, bool nofollow, libcrun_error_t *err) {
        const RuntimeContainer *container = runtime_hooks_container();

        if (container && g_str_equal(path, container->state_root))
                return 0;
        return __real_crun_ensure_directory(path, mode, nofollow, err);
}

static bool is_standard_stream(const char *path) {
        static const char *const paths[] = { "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2", NULL };

        return g_strv_contains(paths, path);
}

/* In the state file it is said what descriptors 0 to 2 were, for CRIU to open them again. The first look at /proc/self
 * takes the kernel 30 us, and the process's end some more; one that "is not there" is "/dev/null" in the file. */
ssize_t __wrap_readlink(const char *path, char *target, size_t size) {
        if (runtime_hooks_container() && is_standard_stream(path)) {
                errno = ENOENT;
                return -1;
        }
        return __real_readlink(path, target, size);
}
