/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/option/mount-request.h"
#include "libstart/run/bind-mounts.h"
#include "libstart/run/host-path.h"
#include "libstart/run/root-file.h"

typedef runtime_spec_schema_defs_mount Mount;

/* What each option does to the mount's flags. */
static const struct {
        const char *name;
        guint64 set, clear;
        bool recursive;
} options[] = {
        { "bind" },
        { "rbind", .recursive = true },
        { "private" },
        { "rprivate" },
        { "rw", .clear = MOUNT_ATTR_RDONLY },
        { "ro", .set = MOUNT_ATTR_RDONLY },
        { "suid", .clear = MOUNT_ATTR_NOSUID },
        { "nosuid", .set = MOUNT_ATTR_NOSUID },
        { "dev", .clear = MOUNT_ATTR_NODEV },
        { "nodev", .set = MOUNT_ATTR_NODEV },
        { "exec", .clear = MOUNT_ATTR_NOEXEC },
        { "noexec", .set = MOUNT_ATTR_NOEXEC },
};

typedef struct Flags {
        guint64 set;
        bool recursive;
} Flags;

/* The last word counts, as on mount(8)'s command line. False where an option is none of the above. */
static bool find_flags(const Mount *mount, Flags *ret) {
        *ret = (Flags) { 0 };
        for (size_t i = 0; i < mount->options_len; i++) {
                size_t j = 0;

                while (j < G_N_ELEMENTS(options) && !g_str_equal(mount->options[i], options[j].name))
                        j++;
                if (j == G_N_ELEMENTS(options))
                        return false;
                ret->set = (ret->set & ~options[j].clear) | options[j].set;
                ret->recursive |= options[j].recursive;
        }
        return true;
}

bool bind_mount_is_private(const Mount *mount) {
        Flags flags;

        return g_strcmp0(mount->type, "bind") == 0 && find_flags(mount, &flags);
}

static bool has_option(const Mount *mount, const char *option) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_equal(mount->options[i], option))
                        return true;
        return false;
}

/* What the source is under, unless the user says otherwise. Where it is read-only that says nothing: a remount for another
 * flag would lift it. */
void bind_mount_restrict(Mount *mount, unsigned long flags) {
        static const struct {
                unsigned long flag;
                const char *option, *opposite;
        } table[] = {
                { ST_NOEXEC, "noexec", "exec" },
                { ST_NOSUID, "nosuid", "suid" },
                { ST_NODEV, "nodev", "dev" },
                { ST_RDONLY, "ro", "" },
        };

        mount->options = g_renew(char *, mount->options, mount->options_len + G_N_ELEMENTS(table));
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (flags & table[i].flag && !has_option(mount, table[i].opposite))
                        mount->options[mount->options_len++] = g_strdup(table[i].option);
}

static bool is_requested(const BindMountContext *context, const Mount *mount) {
        for (guint i = 0; i < context->requests->len; i++)
                if (g_str_equal(((const MountRequest *) context->requests->pdata[i])->destination,
                                mount->destination))
                        return true;
        return false;
}

static bool fail_source(const Mount *mount, GError *problem, GError **error) {
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_prefixed_error(error, problem,
                                           "Cannot mount '%s' on the container's '%s': ", mount->source,
                                           mount->destination);
                return false;
        }
        g_error_free(problem);
        return error_set(error, KT_ERROR_NOT_FOUND,
                         "Cannot mount '%s' on the container's '%s' (Volume=, Mount=): '%s' is not there; create it "
                         "before, e.g. with mkdir or tmpfiles.d(5)",
                         mount->source, mount->destination, mount->source);
}

int bind_mount_open_source(const BindMountContext *context, Mount *mount, GError **error) {
        GError *problem = NULL;
        int fd = host_path_open(mount->source, O_PATH, context->untrusted_list, &problem);
        struct statvfs st;

        if (fd < 0)
                fail_source(mount, problem, error);
        else if (is_requested(context, mount) && fstatvfs(fd, &st) == 0)
                bind_mount_restrict(mount, st.f_flag);
        return fd;
}

/* Only the mount itself gets the flags; mounts below it keep theirs. */
static bool restrict_mount(int fd, const Flags *flags, bool is_shared) {
        static const guint64 all = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
        struct mount_attr attributes = { .attr_set = flags->set, .attr_clr = all & ~flags->set };
        struct mount_attr alone = { .propagation = MS_PRIVATE };

        return syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 &&
               (!is_shared ||
                syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &alone, sizeof alone) == 0);
}

/* The mount gets its flags before it is attached: nobody sees it without them. */
bool bind_mount_make(const BindMountContext *context, Mount *wanted, GError **error) {
        _cleanup_close_ int source = bind_mount_open_source(context, wanted, error), fd = -1, target = -1;
        Flags flags;

        if (source < 0)
                return false;
        if (!find_flags(wanted, &flags))
                return error_set(error, KT_ERROR_FAILED, "Cannot mount '%s' with these options", wanted->source);
        fd = (int) syscall(SYS_open_tree, source, "",
                           AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
                                   (flags.recursive ? AT_RECURSIVE : 0));
        if (fd < 0 || !restrict_mount(fd, &flags, context->is_shared))
                return error_set_errno(error, errno, "Cannot mount '%s' in the container", wanted->source);
        target = root_file_open_mount_point(context->root_fd, wanted->destination + 1, source, error);
        if (target < 0)
                return false;
        if (syscall(SYS_move_mount, fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
                return error_set_errno(error, errno, "Cannot mount '%s' on the container's '%s'", wanted->source,
                                       wanted->destination);
        return true;
}
