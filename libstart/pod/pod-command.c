/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/kernel-mounts.h"
#include "libstart/mount/mount-label.h"
#include "libstart/pod/network.h"
#include "libstart/pod/pod-command.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/service/host.h"
#include "libstart/service/labels.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/value/names.h"
#include "libstart/value/sysctl.h"

/* A pod is a directory with pins: namespaces that live as long as a file that they are mounted on does, and a tmpfs.
 * Its containers join them by their paths and mount the tmpfs; nothing of the directory is to be seen in them. Nobody
 * but root may enter it on the host: anybody may write to the tmpfs. */

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
#define STACK_SIZE (256 << 10)

typedef struct Command {
        int shared;      /* CLONE_NEW flags */
        const char *pin; /* of the user namespace: the file's name */
        ContainerRequest request;
        LaunchArgs *args; /* the request's strings */
        const char *name;
} Command;

static void command_clear(Command *command) {
        container_request_clear(&command->request);
        g_clear_pointer(&command->args, launch_args_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Command, command_clear)

static bool read_share(Command *command, const char *value, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, ",", -1);

        for (char **word = words; *word; word++) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(kinds) && !g_str_equal(*word, kinds[i].name))
                        i++;
                if (i == G_N_ELEMENTS(kinds))
                        return error_set(error, KT_ERROR_USAGE, "--share: '%s' is none of ipc, net, uts", *word);
                command->shared |= kinds[i].flag;
        }
        return true;
}

static bool check_sysctls(const Command *command, GError **error) {
        for (guint i = 0; i < command->request.sysctls->len; i++) {
                const Sysctl *sysctl = command->request.sysctls->pdata[i];
                int flag = sysctl->ns == SYSCTL_NETWORK ? CLONE_NEWNET : CLONE_NEWIPC;

                if (!(command->shared & flag))
                        return error_set(error, KT_ERROR_USAGE,
                                         "--sysctl: '%s' belongs to a namespace that the pod does not share",
                                         sysctl->name);
        }
        return true;
}

/* Options are as for `libstart run`, with the pod's name for the image. */
static bool read_command(Command *command, const char *const *words, GError **error) {
        if (words[0] && words[1] && g_str_equal(words[0], "--share")) {
                if (!read_share(command, words[1], error))
                        return false;
                words += 2;
        }
        if (words[0] && words[1] && g_str_equal(words[0], "--pin")) {
                command->pin = words[1];
                words += 2;
        }
        if (!words[0]) /* of which launch_args_parse() would say that it is an image */
                return error_set(error, KT_ERROR_USAGE, "libstart pod: the name of a pod's service is needed");
        command->args = launch_args_parse(words, error);
        if (!command->args)
                return false;
        if (!command->args->network && command->shared & CLONE_NEWNET) /* else it would be the host's */
                command->args->network = g_strdup("none");
        if (!launch_args_read(command->args, &command->request, error))
                return false;
        if (command->pin && strchr(command->pin, '/'))
                return error_set(error, KT_ERROR_USAGE, "--pin: '%s' is no name of a file", command->pin);
        command->name = command->request.image;
        if (command->request.command->len > 0 || command->name[0] == '.' ||
            !name_is_made_of(command->name, ":-_.\\@"))
                return error_set(error, KT_ERROR_USAGE, "libstart pod: the name of a pod's service is needed");
        if (!user_view_is_entered() && command->request.userns.mode == USERNS_KEEP_ID &&
            (command->request.userns.uid > 0 || command->request.userns.gid > 0))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "--userns: a pod has no user: keep-id without uid= and gid=");
        return check_sysctls(command, error);
}

/*
 * down
 */

static bool is_gone(int r) {
        return r == 0 || errno == ENOENT;
}

/* What was mounted there more than once is there more than once. Not a mount point: EINVAL. */
static bool unpin(const char *directory, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        bool is_directory = g_str_equal(name, SHM);

        while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
                ;
        return ((errno == EINVAL || errno == ENOENT) && is_gone(is_directory ? rmdir(path) : unlink(path))) ||
               error_set_errno(error, errno, "Cannot remove '%s'", path);
}

/* As much as can be; says the first thing that could not. */
static bool remove_pod(const char *directory, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_auto(GStrv) names = directory_list(directory, &problem);

        for (char **name = names; name && *name; name++)
                (void) unpin(directory, *name, problem ? NULL : &problem);
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
        return directory_make(PATH_POD, 0700, error) &&
               (mkdir(directory, 0700) == 0 || error_set_errno(error, errno, "Cannot make '%s'", directory));
}

/* Of the namespaces that this process is in. proc: a procfs. */
static bool set_sysctl(int proc, const char *name, const char *value, GError **error) {
        g_autofree char *file = g_strdelimit(g_strdup(name), ".", '/');
        g_autofree char *path = g_build_filename("sys", file, NULL);
        _cleanup_close_ int fd = openat(proc, path, O_WRONLY | O_CLOEXEC);

        return (fd >= 0 && fd_write_all(fd, value, strlen(value))) ||
               error_set_errno(error, errno, "Cannot set the pod's sysctl '%s'", name);
}

static bool set_up_loopback(int proc, GError **error) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
        g_autoptr(GError) problem = NULL;

        if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
                return error_set_errno(error, errno, "Cannot set up the pod's loopback");
        /* As Podman ships it: everyone in the containers may ping. */
        if (!set_sysctl(proc, "net.ipv4.ping_group_range", "0 0", &problem))
                log_warning("%s, ignoring: only root may ping", problem->message);
        return true;
}

static bool fill_namespaces(const Command *command, int proc, GError **error) {
        const char *hostname = command->request.hostname;

        if (hostname && command->shared & CLONE_NEWUTS && sethostname(hostname, strlen(hostname)) < 0)
                return error_set_errno(error, errno, "Cannot set the pod's host name");
        if (command->shared & CLONE_NEWNET && !set_up_loopback(proc, error))
                return false;
        for (guint i = 0; i < command->request.sysctls->len; i++) {
                const Sysctl *sysctl = command->request.sysctls->pdata[i];

                if (!set_sysctl(proc, sysctl->name, sysctl->value, error))
                        return false;
        }
        return true;
}

/* A namespace in which every id is itself is one all the same. */
static bool find_user_namespace(Command *command, UserNamespace *ret, GError **error) {
        if (!user_namespace_find_without_image(&command->request.userns, command->name,
                                               command->request.network.is_owned, ret, error))
                return false;
        if (!ret->uids || ret->fd >= 0)
                return true;
        if (!ret->path)
                return (ret->fd = userns_descriptor_make(ret->uids, ret->gids, ret->maker, error)) >= 0;
        ret->fd = open(ret->path, O_RDONLY | O_CLOEXEC);
        return ret->fd >= 0 || error_set_errno(error, errno, "Cannot open '%s'", ret->path);
}

/* What keyturn-network@.service has made ahead, if it is on a bridge. A pod without it is none. */
static bool find_network(Command *command, const UserNamespace *userns, GError **error) {
        g_auto(Network) network = NETWORK_NULL;

        return network_find(&command->request, &network, error) &&
               network_settle_owner(&command->request.network, userns->path, &network, error);
}

/* Namespaces belong to the user namespace of the process that makes them, which cannot come back from there. This
 * child shares the memory and descriptors of its parent, which waits until it has ended, and leaves it the namespaces
 * open. */
typedef struct Maker {
        const Command *command;
        int userns; /* -1: the host's */
        int proc;   /* a procfs that can be written to, where that is needed */
        int made[G_N_ELEMENTS(kinds)];
        bool is_done; /* else it has an error, or was killed */
        GError *error;
} Maker;

static bool make_namespaces(Maker *maker) {
        if (maker->userns >= 0 && setns(maker->userns, CLONE_NEWUSER) < 0)
                return error_set_errno(&maker->error, errno, "Cannot enter the pod's user namespace");
        /* Its root, if it has one, owns what there is to be set. Not by the C library, which would tell threads. */
        if (maker->userns >= 0) {
                (void) syscall(SYS_setresgid, 0, 0, 0);
                (void) syscall(SYS_setresuid, 0, 0, 0);
        }
        if (unshare(maker->command->shared) < 0)
                return error_set_errno(&maker->error, errno, "Cannot make the pod's namespaces");
        if (!fill_namespaces(maker->command, maker->proc, &maker->error))
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autofree char *path = g_build_filename("/proc/self/ns", kinds[i].name, NULL);

                if (!(maker->command->shared & kinds[i].flag))
                        continue;
                maker->made[i] = open(path, O_RDONLY | O_CLOEXEC);
                if (maker->made[i] < 0)
                        return error_set_errno(&maker->error, errno, "Cannot open '%s'", path);
        }
        return true;
}

static int run_maker(void *data) {
        Maker *maker = data;

        maker->is_done = make_namespaces(maker);
        syscall(SYS_exit, 0);
        return 0;
}

static bool run_child(Maker *maker, GError **error) {
        g_autofree char *stack = g_malloc(STACK_SIZE);
        pid_t pid = clone(run_maker, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, maker);

        if (pid < 0)
                return error_set_errno(error, errno, "Cannot make a process");
        (void) process_wait(pid, NULL, 0);
        if (maker->error)
                g_propagate_error(error, maker->error);
        else if (!maker->is_done)
                error_set(error, KT_ERROR_FAILED,
                          "Cannot make the pod's namespaces: the process that does was killed");
        return maker->is_done;
}

static bool pin(const char *directory, const char *name, int fd, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *source = g_strdup_printf("/proc/self/fd/%d", fd);
        _cleanup_close_ int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);

        return (file >= 0 && mount(source, path, NULL, MS_BIND, NULL) == 0) ||
               error_set_errno(error, errno, "Cannot pin the pod's namespace as '%s'", path);
}

static bool mount_shm(const Command *command, const char *directory, const UserNamespace *userns,
                      const char *file_label, GError **error) {
        gint64 size = command->request.shm_size;
        g_autofree char *path = g_build_filename(directory, SHM, NULL);
        g_autoptr(GString) options = g_string_new("mode=1777");
        MountLabel label = MOUNT_LABEL_NULL;

        label.text = file_label;
        g_string_append_printf(options, ",size=%" G_GINT64_FORMAT ",uid=%u,gid=%u",
                               size < 0 ? DEFAULT_SHM_SIZE : size, user_namespace_uid(userns, 0),
                               user_namespace_gid(userns, 0));
        mount_label_append(&label, options);
        return (mkdir(path, 0700) == 0 &&
                mount("shm", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options->str) == 0) ||
               error_set_errno(error, errno, "Cannot mount the pod's '%s'", path);
}

static bool find_label(const char *directory, char **ret, GError **error) {
        g_auto(Host) host = { 0 };

        return host_gather(&host, error) && (!host.facts.selinux || labels_find_pod(directory, ret, error));
}

static bool pin_all(const Maker *maker, const char *directory, GError **error) {
        if (maker->userns >= 0 && !pin(directory, maker->command->pin ?: NAME_POD_USER, maker->userns, error))
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (maker->made[i] >= 0 && !pin(directory, kinds[i].name, maker->made[i], error))
                        return false;
        return true;
}

/* One of its own: where systemd runs in a container, that one's cannot be written to. */
static bool open_proc(const Command *command, int *ret, GError **error) {
        static char proc[] = "proc", place[] = "/proc";
        OciMount mount = { .destination = place, .type = proc, .source = proc };
        const ContainerMount wanted = { .oci = &mount, .kernel = &kernel_mounts[0] };
        static const MountLabel label = MOUNT_LABEL_NULL;

        if (!(command->shared & CLONE_NEWNET) && command->request.sysctls->len == 0)
                return true;
        if (!user_view_is_entered()) {
                *ret = kernel_mount_make_detached(&wanted, &label, error);
                return *ret >= 0;
        }
        /* A user may mount none, and the machine's shows the settings of the network that one is in. */
        *ret = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return *ret >= 0 || error_set_errno(error, errno, "Cannot open '/proc'");
}

static bool make_pod(Command *command, const char *directory, GError **error) {
        g_auto(UserNamespace) userns = USER_NAMESPACE_NULL;
        g_autofree char *label = NULL;
        Maker maker = { .command = command, .made = { -1, -1, -1 } };
        _cleanup_close_ int proc = -1;

        if (!find_label(directory, &label, error) || !make_directories(directory, error) ||
            !find_user_namespace(command, &userns, error) || !find_network(command, &userns, error) ||
            !open_proc(command, &proc, error))
                return false;
        if (command->pin && userns.fd < 0) /* or its containers would have it made anew for ever */
                return error_set(error, KT_ERROR_USAGE, "--pin: there is no user namespace to be pinned");
        maker.userns = userns.fd;
        maker.proc = proc;
        return run_child(&maker, error) && pin_all(&maker, directory, error) &&
               (!(command->shared & CLONE_NEWIPC) || mount_shm(command, directory, &userns, label, error));
}

bool pod_command(const char *const *words, GError **error) {
        g_auto(Command) command = { 0 };
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

/* Its pins went with the view, or its file asks for another user namespace by now, and so for another name of it.
 * Part of a pod would find the rest in other namespaces: so all of it begins anew, and with it who finds that out. */
bool pod_settle(const char *userns, GError **error) {
        _cleanup_close_ int fd = -1;
        g_autofree char *directory = NULL, *stem = NULL, *service = NULL;

        if (!userns || !g_str_has_prefix(userns, PATH_POD "/"))
                return true;
        fd = open(userns, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0 ? ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWUSER : errno != ENOENT)
                return true;
        directory = g_path_get_dirname(userns);
        if (access(directory, F_OK) < 0) /* it does not run */
                return true;
        stem = g_path_get_basename(directory);
        service = g_strconcat(stem, ".service", NULL);
        log_notice("%s, and its containers: they start anew, for %s", service,
                   fd >= 0 ? "what it has made went with keyturn-view.service" :
                             "its file says another UserNS=, or its like, than it was made with");
        return unit_restart_with_others(service, error);
}
