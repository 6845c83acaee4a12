/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/option/names.h"
#include "libstart/option/size.h"
#include "libstart/option/sysctl.h"
#include "libstart/run/host.h"
#include "libstart/run/labels.h"
#include "libstart/run/mount-label.h"
#include "libstart/run/pod-command.h"

/* A pod is a directory with pins: namespaces that live as long as a file that they are mounted on does, and a tmpfs. Its
 * containers join them by their paths and mount the tmpfs; nothing of the directory is to be seen in them. Nobody but root
 * may enter it on the host: anybody may write to the tmpfs. */

static const struct {
        const char *name;
        int flag;
} kinds[] = {
        { "ipc", CLONE_NEWIPC },
        { "net", CLONE_NEWNET },
        { "uts", CLONE_NEWUTS },
};

#define SHM "shm"
#define DEFAULT_SHM_SIZE 65536000 /* as in a container of its own */

typedef struct Command {
        int shared; /* CLONE_NEW flags */
        const char *hostname;
        guint64 shm_size;   /* 0: no limit */
        GPtrArray *sysctls; /* of Sysctl */
        const char *name;
} Command;

static bool read_share(Command *command, const char *value, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, ",", -1);

        for (char **word = words; *word; word++) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(kinds) && !g_str_equal(*word, kinds[i].name))
                        i++;
                if (i == G_N_ELEMENTS(kinds))
                        return error_set(error, KT_ERROR_USAGE, "'%s' is none of ipc, net, uts", *word);
                command->shared |= kinds[i].flag;
        }
        return true;
}

static bool read_sysctl(Command *command, const char *value, GError **error) {
        Sysctl *sysctl = sysctl_parse(value, error);
        int flag = sysctl && sysctl->ns == SYSCTL_NETWORK ? CLONE_NEWNET : CLONE_NEWIPC;

        if (!sysctl)
                return false;
        g_ptr_array_add(command->sysctls, sysctl);
        return command->shared & flag ||
               error_set(error, KT_ERROR_USAGE, "'%s' belongs to a namespace that the pod does not share", value);
}

static bool read_option(Command *command, const char *option, const char *value, GError **error) {
        if (!value)
                return error_set(error, KT_ERROR_USAGE, "libstart pod: %s: a value is missing", option);
        if (g_str_equal(option, "--share"))
                return read_share(command, value, error);
        if (g_str_equal(option, "--hostname")) {
                command->hostname = value;
                return name_check_host(value, error);
        }
        if (g_str_equal(option, "--shm-size"))
                return size_parse(value, &command->shm_size, error);
        if (g_str_equal(option, "--sysctl"))
                return read_sysctl(command, value, error);
        return error_set(error, KT_ERROR_USAGE,
                         "libstart pod: '%s': there are --share, --hostname, --shm-size and --sysctl", option);
}

static bool read_command(Command *command, const char *const *words, GError **error) {
        for (; *words && (*words)[0] == '-'; words += 2)
                if (!read_option(command, words[0], words[1], error)) {
                        g_prefix_error(error, "%s: ", words[0]);
                        return false;
                }
        command->name = words[0];
        if (!words[0] || words[1])
                return error_set(error, KT_ERROR_USAGE, "libstart pod: one name is needed");
        return (words[0][0] != '.' && name_is_made_of(words[0], ":-_.\\@")) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no name of a pod's service", words[0]);
}

/*
 * down
 */

static bool is_gone(int r) {
        return r == 0 || errno == ENOENT;
}

/* What was mounted there more than once is there more than once. Not a mount point: EINVAL. */
static bool unpin(const char *directory, const char *name, bool is_directory, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);

        while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
                ;
        return ((errno == EINVAL || errno == ENOENT) && is_gone(is_directory ? rmdir(path) : unlink(path))) ||
               error_set_errno(error, errno, "Cannot remove '%s'", path);
}

/* As much as can be; says the first thing that could not. */
static bool remove_pod(const char *directory, GError **error) {
        g_autoptr(GError) problem = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                (void) unpin(directory, kinds[i].name, false, problem ? NULL : &problem);
        (void) unpin(directory, SHM, true, problem ? NULL : &problem);
        if (!problem && !is_gone(rmdir(directory)))
                error_set_errno(&problem, errno, "Cannot remove '%s'", directory);
        if (!problem)
                return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

/*
 * up
 */

static bool make_directories(const char *directory, GError **error) {
        static const struct {
                const char *path;
                mode_t mode;
        } above[] = { { PATH_RUN, 0755 }, { PATH_POD, 0700 } };

        for (size_t i = 0; i < G_N_ELEMENTS(above); i++)
                if (mkdir(above[i].path, above[i].mode) < 0 && errno != EEXIST)
                        return error_set_errno(error, errno, "Cannot make '%s'", above[i].path);
        return mkdir(directory, 0700) == 0 || error_set_errno(error, errno, "Cannot make '%s'", directory);
}

/* Of the namespaces that this process is in. */
static bool set_sysctl(const char *name, const char *value, GError **error) {
        g_autofree char *file = g_strdelimit(g_strdup(name), ".", '/');
        g_autofree char *path = g_build_filename("/proc/sys", file, NULL);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        return (fd >= 0 && fd_write_all(fd, value, strlen(value))) ||
               error_set_errno(error, errno, "Cannot set the pod's sysctl '%s'", name);
}

static bool set_up_loopback(GError **error) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
        g_autoptr(GError) problem = NULL;

        if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
                return error_set_errno(error, errno, "Cannot set up the pod's loopback");
        /* As Podman ships it: everyone in the containers may ping. */
        if (!set_sysctl("net.ipv4.ping_group_range", "0 0", &problem))
                log_warning("%s, ignoring: only root may ping", problem->message);
        return true;
}

static bool fill_namespaces(const Command *command, GError **error) {
        if (command->hostname && command->shared & CLONE_NEWUTS &&
            sethostname(command->hostname, strlen(command->hostname)) < 0)
                return error_set_errno(error, errno, "Cannot set the pod's host name");
        if (command->shared & CLONE_NEWNET && !set_up_loopback(error))
                return false;
        for (guint i = 0; i < command->sysctls->len; i++) {
                const Sysctl *sysctl = command->sysctls->pdata[i];

                if (!set_sysctl(sysctl->name, sysctl->value, error))
                        return false;
        }
        return true;
}

static bool pin(const char *directory, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *namespace = g_build_filename("/proc/self/ns", name, NULL);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);

        return (fd >= 0 && mount(namespace, path, NULL, MS_BIND, NULL) == 0) ||
               error_set_errno(error, errno, "Cannot pin the pod's namespace as '%s'", path);
}

static bool mount_shm(const char *directory, guint64 size, const char *file_label, GError **error) {
        g_autofree char *path = g_build_filename(directory, SHM, NULL);
        g_autoptr(GString) options = g_string_new("mode=1777");
        MountLabel label = MOUNT_LABEL_NULL;

        label.text = file_label;
        g_string_append_printf(options, ",size=%" G_GUINT64_FORMAT, size);
        mount_label_append(&label, options);
        return (mkdir(path, 0700) == 0 &&
                mount("shm", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options->str) == 0) ||
               error_set_errno(error, errno, "Cannot mount the pod's '%s'", path);
}

/* Before this process leaves the host's namespaces. */
static bool find_label(const char *directory, char **ret, GError **error) {
        g_auto(Host) host = { 0 };

        return host_gather(&host, error) && (!host.facts.selinux || labels_find_pod(directory, ret, error));
}

static bool make_pod(const Command *command, const char *directory, GError **error) {
        g_autofree char *label = NULL;

        if (!find_label(directory, &label, error) || !make_directories(directory, error))
                return false;
        if (unshare(command->shared) < 0)
                return error_set_errno(error, errno, "Cannot make the pod's namespaces");
        if (!fill_namespaces(command, error))
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (command->shared & kinds[i].flag && !pin(directory, kinds[i].name, error))
                        return false;
        return !(command->shared & CLONE_NEWIPC) || mount_shm(directory, command->shm_size, label, error);
}

bool pod_command(const char *const *words, GError **error) {
        g_autoptr(GPtrArray) sysctls = g_ptr_array_new_with_free_func((GDestroyNotify) sysctl_free);
        Command command = { .shm_size = DEFAULT_SHM_SIZE, .sysctls = sysctls };
        bool up = g_strcmp0(words[0], "up") == 0;
        g_autofree char *directory = NULL;

        if (!up && g_strcmp0(words[0], "down") != 0)
                return error_set(error, KT_ERROR_USAGE, "libstart pod: the next word must be 'up' or 'down'");
        if (!read_command(&command, words + 1, error))
                return false;
        directory = g_build_filename(PATH_POD, command.name, NULL);
        if (!remove_pod(directory, error))
                return false;
        if (!up || make_pod(&command, directory, error))
                return true;
        (void) remove_pod(directory, NULL);
        return false;
}
