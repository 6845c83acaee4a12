/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/ctl/exec/commands.h"

/* A shell of the host's, with the host's tools, that looks at a container: in its network, with its IPC and its host
 * name, and with its files in one directory. For images that have no shell, or none that is to be trusted.
 *
 * The threat: the shell has all of root's rights, and the payload waits for something of it.
 *
 *  - It is none of the container's processes: not in its pid namespace, where the payload could see, stop or trace
 *    it; not in its mount namespace or control group. The payload gets nothing to open, and no program of the
 *    container's is run.
 *  - The container's files are a copy of its tree of mounts in a mount namespace of the shell's own, where nothing
 *    can be executed, no device opened, and no link followed, nor /proc's of other processes: an absolute link of the
 *    payload's leads a tool of the host to a file of the host's, to read it into the container, or to write it.
 *  - All else of the host is read-only there: whatever a tool does in good faith with names of the payload's, it does
 *    to the container. /tmp is the shell's own. */

#define CLOSED (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW)

static bool set_attributes(int fd, guint64 set, GError **error) {
        struct mount_attr attributes = { .attr_set = set, .propagation = MS_PRIVATE };

        return syscall(SYS_mount_setattr, fd, fd < 0 ? "/" : "", AT_RECURSIVE | (fd < 0 ? 0 : AT_EMPTY_PATH),
                       &attributes, sizeof attributes) == 0 ||
               error_set_errno(error, errno, "Cannot close the mounts for the shell");
}

static bool attach(int fd, const char *place, GError **error) {
        return syscall(SYS_move_mount, fd, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
               error_set_errno(error, errno, "Cannot mount the container's files on '%s'", place);
}

/* The host's mounts are made read-only by a copy of the namespace, the others never see it. */
static bool make_view(int root, const char *place, GError **error) {
        if (!set_attributes(root, CLOSED, error))
                return false;
        if (unshare(CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot make a mount namespace");
        if (!set_attributes(-1, MOUNT_ATTR_RDONLY, error))
                return false;
        if (mount("keyturnctl", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
                return error_set_errno(error, errno, "Cannot mount a file system on '/tmp'");
        return attach(root, place, error);
}

/* A copy, which stays as it is: a payload that may set its host name sets any, and a shell shows it in its prompt, at
 * a terminal. */
static bool keep_host_name(void) {
        char name[HOST_NAME_MAX + 1] = "";

        if (unshare(CLONE_NEWUTS) < 0 || gethostname(name, sizeof name) < 0)
                return false;
        g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-.", '_');
        return sethostname(name, strlen(name)) == 0;
}

static bool enter(int payload, GError **error) {
        return (setns(payload, CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0 && keep_host_name()) ||
               error_set_errno(error, errno, "Cannot enter the container's namespaces");
}

static void warn_of_namespace(const ContainerUnit *container) {
        libcrun_container_t *config = payload_read_config(container, NULL);

        if (!config)
                return;
        (void) payload_is_in_place(container, config);
        libcrun_container_free(config);
}

static void set_variables(const ContainerUnit *container, const char *place) {
        g_autofree char *pid = g_strdup_printf("%u", container->pid);

        (void) setenv("ROOT", place, true);
        (void) setenv("PAYLOAD", pid, true);
        (void) setenv("HISTFILE", "/dev/null", true);
}

int command_shell(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;
        char *shell[] = { (char *) (getenv("SHELL") ?: "/bin/sh"), NULL };
        char **command = words[0] && words[1] ? words + 1 : shell;
        g_autofree char *directory = NULL, *place = NULL;
        _cleanup_close_ int payload = -1, root = -1;

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "'shell' takes a container, and a command or none");
        if (!container || !payload_check_running(container, error))
                return -1;
        payload = payload_open(container, error);
        root = payload >= 0 ? payload_open_files(container, payload, /* clone= */ true, error) : -1;
        directory = container_unit_state_dir(container);
        place = g_build_filename(directory, ".private", "root", NULL);
        if (root >= 0)
                warn_of_namespace(container);
        if (root < 0 || !make_view(root, place, error) || !enter(payload, error))
                return -1;
        if (chdir(place) < 0)
                return error_negative_errno(error, errno, "Cannot enter '%s'", place);
        set_variables(container, place);
        (void) execvp(command[0], command);
        error_set_errno(error, errno, "Cannot execute '%s'", command[0]);
        return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
