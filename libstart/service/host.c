/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/user-view.h"
#include "libstart/service/device-nodes.h"
#include "libstart/service/host.h"
#include "libstart/value/capability.h"

#define CPU_DIRECTORY "/sys/devices/system/cpu"

int host_listen_fds(void) {
        const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
        guint64 n = 0;

        if (!pid || !fds || !g_ascii_string_to_unsigned(pid, 10, 1, G_MAXINT, &n, NULL) || (pid_t) n != getpid())
                return 0;
        return g_ascii_string_to_unsigned(fds, 10, 0, 1024, &n, NULL) ? (int) n : 0;
}

/* Only x86 has this directory, which tells how hot the machine is: a covert channel, masked as Podman
 * does. Every CPU has it or none; where it cannot be seen, each is masked that is there. */
static char **find_thermal_throttle(void) {
        g_autoptr(GPtrArray) paths = NULL;
        long n;

        if (access(CPU_DIRECTORY "/cpu0/thermal_throttle", F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
                return NULL;
        paths = g_ptr_array_new_with_free_func(g_free);
        n = sysconf(_SC_NPROCESSORS_CONF);
        for (long i = 0; i < n; i++)
                g_ptr_array_add(paths, g_strdup_printf(CPU_DIRECTORY "/cpu%ld/thermal_throttle", i));
        g_ptr_array_add(paths, NULL);
        return (char **) g_ptr_array_steal(paths, NULL);
}

static bool has_capability(cap_value_t cap) {
        cap_flag_value_t value = CAP_CLEAR;
        cap_t caps = cap_get_proc();

        if (caps) {
                cap_get_flag(caps, cap, CAP_EFFECTIVE, &value);
                cap_free(caps);
        }
        return value == CAP_SET;
}

static guint64 read_number(const char *path) {
        g_autofree char *text = NULL;
        guint64 number = 0;

        if (g_file_get_contents(path, &text, NULL, NULL))
                g_ascii_string_to_unsigned(g_strchomp(text), 10, 0, G_MAXUINT64, &number, NULL);
        return number;
}

/* Whoever is not let in lives under a policy, and whoever cannot ask may. Where it is mounted read-only the machine
 * is a container itself, whose host has SELinux: libselinux takes that for none, too. */
static bool has_selinux(void) {
        struct statfs fs;

        return statfs("/sys/fs/selinux", &fs) < 0 ? errno != ENOENT && errno != ENOTDIR :
                                                    (guint32) fs.f_type == SELINUX_MAGIC && !(fs.f_flags & ST_RDONLY);
}

bool host_gather(Host *ret, GError **error) {
        struct rlimit nofile, nproc;
        bool can_raise_limits = !user_view_is_entered() && has_capability(CAP_SYS_RESOURCE);
        guint64 bounding_caps;

        *ret = (Host) { 0 };
        if (gethostname(ret->hostname, sizeof ret->hostname) < 0 || getrlimit(RLIMIT_NOFILE, &nofile) < 0 ||
            getrlimit(RLIMIT_NPROC, &nproc) < 0)
                return error_set_errno(error, errno, "Cannot ask the kernel for the host's name and limits");
        if (!bounding_set_read(&bounding_caps, error))
                return false;
        ret->facts = (HostFacts) {
                .hostname = ret->hostname,
                .environment = (const char *const *) environ,
                .thermal_throttle = find_thermal_throttle(),
                .nofile_hard = nofile.rlim_max,
                .nproc_hard = nproc.rlim_max,
                .can_raise_limits = can_raise_limits,
                .is_users_view = user_view_is_entered(),
                .nr_open = can_raise_limits ? read_number("/proc/sys/fs/nr_open") : 0,
                .bounding_caps = bounding_caps,
                .listen_fds = host_listen_fds(),
                .listen_fd_names = getenv("LISTEN_FDNAMES"),
                .selinux = has_selinux(),
        };
        return true;
}

bool host_find_devices(Host *host, const ContainerRequest *request, GError **error) {
        host->facts.device_nodes = device_nodes_find(request, error);
        return host->facts.device_nodes;
}

void host_clear(Host *host) {
        g_clear_pointer(&host->facts.thermal_throttle, g_strfreev);
        g_clear_pointer(&host->facts.device_nodes, g_ptr_array_unref);
}
