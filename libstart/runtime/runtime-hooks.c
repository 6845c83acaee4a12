/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/container.h>
#include <libcrun/custom-handler.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/keyring.h"
#include "libstart/mount/made-nodes.h"
#include "libstart/mount/masks.h"
#include "libstart/mount/mount-tree.h"
#include "libstart/mount/mounts.h"
#include "libstart/mount/shared-mounts.h"
#include "libstart/runtime/exec-label.h"
#include "libstart/runtime/runtime-hooks.h"
#include "libstart/runtime/runtime-state.h"
#include "libstart/userns/userns-maker.h"

/* libcrun's half of a start, and what is ours in it. For libcrun keyturn is a handler: a table of functions for the
 * steps that somebody else takes in its place. libcrun made handlers for programs that run something else than a
 * plain executable; subprojects/packagefiles/crun/patches let them take more steps. In the order of a start:
 *
 *   libcrun                                ours
 *
 *   makes the container's process, with
 *   namespaces                           change_user: in whose name the user namespace is made
 *      goes on in the parent, meanwhile:   configure(NAMESPACES): a session keyring; the root is attached, in the
 *                                          container's mount namespace and nowhere else; what mounts.h can mount
 *      host name, limits
 *      the mounts that are left, if any    set_mounts: looks at them before libcrun makes them;
 *                                          configure(MOUNTS): by now it has made all of them private;
 *                                          configure(AFTER_MOUNTS): and afterwards. Then mounts that libcrun cannot
 *                                          make and that lie behind its own, masks, read-only
 *      enters the root, if it made mounts  pivot_root: SELinux's label and AppArmor's profile for the payload; then
 *                                          in fewer steps, where nothing is shared with the host
 *      user, capabilities, descriptors
 *                                          apply_seccomp: from memory
 *                                          execute: with an environment made beforehand
 *   waits until the payload begins
 *                                          write_status: what `crun exec` reads, while the payload runs
 *
 * Indented: in the container's first process, a fork of the one that runs libcrun. An error that it returns is the
 * one that libcrun_container_run() returns there.
 *
 * What a handler takes over returns 1 when it is done, and 0 to let libcrun do it. */

static int fail(GError *error, libcrun_error_t *err) {
        int r = libcrun_make_error(err, 0, "%s", error->message);

        g_error_free(error);
        return r;
}

bool runtime_hooks_make_nodes(const RuntimeContainer *container) {
        const ContainerMount *dev = mount_plan_find(container->mounts, "/dev");

        return !container->userns->uids && dev && dev->maker == MAKER_KERNEL;
}

bool runtime_hooks_leave_mounts(const RuntimeContainer *container) {
        return mount_plan_needs_libcrun(container->mounts) || container->spec->hooks;
}

static bool open_root(RuntimeHooks *hooks, const char *path, GError **error) {
        hooks->mounts.root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return hooks->mounts.root_fd >= 0 ||
               error_set_errno(error, errno, "Cannot open the container's root, '%s'", path);
}

static bool prepare_mounts(RuntimeHooks *hooks, GError **error) {
        const RuntimeContainer *container = hooks->container;
        const runtime_spec_schema_config_schema *spec = container->spec;
        const DetachedMount attached[] = {
                { container->layer_mount, container->layer_place },
                { container->root_mount, spec->root->path },
                { container->secrets_mount, container->secrets_place },
        };

        timing_mark(container->timing, TIMING_NAMESPACE);
        if (unshare(CLONE_NEWCGROUP) < 0) /* libcrun would do that later, but /sys/fs/cgroup is to show it */
                return error_set_errno(error, errno, "Cannot make the container's cgroup namespace");
        /* For its mounts libcrun then prepares the root in its own way, for propagation too. */
        return mount_tree_begin(spec->root->path, hooks->mounts.is_shared, error) &&
               mounts_leave_root_out(container->mounts, spec->root->path, error) &&
               mount_tree_attach_all(attached, G_N_ELEMENTS(attached), error) &&
               open_root(hooks, spec->root->path, error) &&
               mounts_make(container->mounts, false, &hooks->mounts, spec->process->cwd, error) &&
               (!runtime_hooks_make_nodes(container) || made_nodes_make(hooks->mounts.root_fd, spec, error));
}

static bool finish_mounts(RuntimeHooks *hooks, GError **error) {
        const RuntimeContainer *container = hooks->container;
        const runtime_spec_schema_config_schema *spec = container->spec;
        int root = hooks->mounts.root_fd;

        if (!masks_make(root, spec, container->mounts, container->root_is_shared, &container->label, error) ||
            !shared_mounts_make(container->mounts, &hooks->mounts, spec->process->cwd, error) ||
            ((spec->root->readonly || runtime_hooks_leave_mounts(container)) &&
             !mount_tree_end(root, spec->root->readonly, error)))
                return false;
        timing_mark(container->timing, TIMING_MOUNTS);
        hooks->mounted = true;
        return !spec->hooks || runtime_enter_bundle(container, error);
}

/* libcrun binds the root onto itself for its mounts: from then on that is the root. */
static bool reopen_root(RuntimeHooks *hooks, const char *rootfs, GError **error) {
        close(hooks->mounts.root_fd);
        return open_root(hooks, rootfs, error);
}

static bool check_mounts(RuntimeHooks *hooks, const char *rootfs, GError **error) {
        MountPlan *plan = hooks->container->mounts;

        return reopen_root(hooks, rootfs, error) && mounts_check_libcrun(plan, hooks->mounts.root_fd, error) &&
               mounts_make(plan, true, &hooks->mounts, hooks->container->spec->process->cwd, error) &&
               shared_mounts_open(plan, &hooks->mounts, error);
}

static int configure(void *cookie, enum handler_configure_phase phase, libcrun_context_t *context,
                     libcrun_container_t *crun, const char *rootfs, libcrun_error_t *err) {
        RuntimeHooks *hooks = cookie;
        GError *error = NULL;
        bool done = true;

        if (phase == HANDLER_CONFIGURE_NAMESPACES)
                done = keyring_join_new(hooks->container->spec->process->selinux_label, &error) &&
                       prepare_mounts(hooks, &error);
        else if (phase == HANDLER_CONFIGURE_MOUNTS)
                done = mounts_leave_root_out(hooks->container->mounts, hooks->container->spec->root->path, &error);
        else if (phase == HANDLER_CONFIGURE_AFTER_MOUNTS)
                done = check_mounts(hooks, rootfs, &error) && finish_mounts(hooks, &error);
        return done ? 0 : fail(error, err);
}

static int set_mounts(void *cookie, libcrun_container_t *crun, const char *rootfs, libcrun_error_t *err) {
        RuntimeHooks *hooks = cookie;
        MountPlan *plan = hooks->container->mounts;
        bool is_left = runtime_hooks_leave_mounts(hooks->container); /* for libcrun, or for OCI hooks */
        GError *error = NULL;
        bool done = is_left ? mounts_open_for_libcrun(plan, &hooks->mounts, &error) : finish_mounts(hooks, &error);

        return !done ? fail(error, err) : is_left ? 0 : 1;
}

static int pivot_root(void *cookie, libcrun_container_t *crun, const char *rootfs, libcrun_error_t *err) {
        RuntimeHooks *hooks = cookie;
        GError *error = NULL;

        if (!exec_label_set(hooks->container->spec->process, &error))
                return fail(error, err);
        hooks->confined = true;
        if (runtime_hooks_leave_mounts(hooks->container))
                return 0;
        return mount_tree_enter(hooks->mounts.root_fd, &error) ? 1 : fail(error, err);
}

/* libcrun calls this for every container, whether it knows of a filter or not, and at the right moment: while the
 * capabilities are there, or after no_new_privs. SPEC_ALLOW is its default, and Podman's: programs that want no
 * speculation say so themselves. */
static int apply_seccomp(void *cookie, libcrun_container_t *crun, libcrun_error_t *err) {
        RuntimeHooks *hooks = cookie;
        struct sock_fprog program;
        gsize size;

        if (!hooks->container->filter)
                return 1;
        program.filter = (struct sock_filter *) g_bytes_get_data(hooks->container->filter, &size);
        program.len = (unsigned short) (size / sizeof(struct sock_filter));
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) < 0)
                return libcrun_make_error(err, errno, "Cannot install the seccomp filter");
        hooks->filtered = true;
        return 1;
}

/* By hand, where libstart is killed, nobody else would end the payload, and its name would be taken for ever. It is
 * lost where what is executed gets other rights (set-user-ID, a label of SELinux's). Before the filter, a change of
 * the user would lose it, too; libcrun calls prctl(2) behind the filter as well. */
static void end_with_parent(const RuntimeContainer *container) {
        if (container->request->detach || container->request->state_dir)
                return;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!exec_report_is_heard(container->report)) /* it has ended before that */
                _exit(EXIT_KEYTURN);
}

/* The last instructions of ours in the container: nothing may fail here without the parent's knowing it. `path` is
 * what libcrun found in PATH, or the bare name if it found nothing, which must not be looked for in the working
 * directory. */
static int execute(void *cookie, libcrun_container_t *crun, const char *path, char *const argv[]) {
        const RuntimeHooks *hooks = cookie;
        const RuntimeContainer *container = hooks->container;
        int errnum = ENOENT;

        timing_mark(container->timing, TIMING_EXEC);
        end_with_parent(container);
        if (!hooks->mounted || !hooks->confined || (container->filter && !hooks->filtered)) {
                errnum = EPERM; /* never without masks, labels and filter, should libcrun not ask for them */
        } else if (strchr(path, '/')) {
                execve(path, argv, container->environment);
                errnum = errno;
        }
        exec_report_failure(container->report, errnum);
        _exit(errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static int write_status(void *cookie, libcrun_container_t *crun, pid_t pid, libcrun_error_t *err) {
        RuntimeHooks *hooks = cookie;
        int r = runtime_state_write(hooks->container, pid, err);

        hooks->payload = pid;
        return r < 0 ? r : 1;
}

/* The container's process becomes its root as soon as that has an id. */
static int change_user(void *cookie, bool back, libcrun_error_t *err) {
        const RuntimeHooks *hooks = cookie;
        uid_t maker = hooks->container->userns->maker;
        GError *error = NULL;

        if (back)
                userns_maker_leave(maker);
        return back || userns_maker_become(maker, &error) ? 0 : fail(error, err);
}

struct custom_handler_s *runtime_hooks_handler(void) {
        static struct custom_handler_s handler = {
                .name = "keyturn",
                .change_user = change_user,
                .configure_container = configure,
                .set_mounts = set_mounts,
                .pivot_root = pivot_root,
                .apply_seccomp = apply_seccomp,
                .run_func = execute,
                .write_status = write_status,
        };

        return &handler;
}
