/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/store/used-ids.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/userns/userns-maker.h"
#include "libstart/value/id-map.h"

/* A namespace begins with a process, whose pages a fork(2) would have to copy the tables of: 25 ms for 512 MiB. This
 * child shares our memory and descriptors, opens its namespace (which is closed to others, also to us) and ends at
 * once. Until it is reaped its maps can be written and read. It tells nobody of its end (no SIGCHLD), and nobody but
 * us reaps it, so that its number cannot be another's meanwhile. */

#define STACK_SIZE 16384

/* In a user's view the files of such a process below /proc would be root's, and the maps could not be written. Who
 * could trace it there is the user, or has capabilities in the view's namespace, which no container has. */
void userns_hide_process(void) {
        if (!user_view_is_entered())
                (void) prctl(PR_SET_DUMPABLE, 0);
}

typedef struct Child {
        int namespace; /* to enter; -1: a new one, which it leaves open here */
        int errnum;    /* 0: it has done so; ECANCELED: it was killed before */
} Child;

/* Next to nothing may be done here: the memory is the parent's, which waits. */
static int end(void *data) {
        Child *child = data;
        long r;

        if (child->namespace < 0)
                r = child->namespace = (int) syscall(SYS_openat, AT_FDCWD, "/proc/self/ns/user",
                                                     O_RDONLY | O_CLOEXEC);
        else
                r = syscall(SYS_setns, child->namespace, CLONE_NEWUSER);
        child->errnum = r < 0 ? errno : 0;
        syscall(SYS_exit, 0);
        return 0;
}

static pid_t make_ended_child(Child *child) {
        _Alignas(16) char stack[STACK_SIZE];

        userns_hide_process();
        return clone(end, stack + sizeof stack,
                     CLONE_VM | CLONE_VFORK | (child->namespace < 0 ? CLONE_FILES | CLONE_NEWUSER : 0), child);
}

static void reap(pid_t pid) {
        (void) process_wait(pid, NULL, __WALL);
}

static int open_of(pid_t pid, const char *name, int flags) {
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/%s", (int) pid, name);
        return open(path, flags | O_CLOEXEC);
}

static bool write_map(pid_t pid, const char *name, const GArray *map, GError **error) {
        _cleanup_close_ int fd = open_of(pid, name, O_WRONLY);
        g_autofree char *text = id_map_format(map);

        /* At once: the kernel takes one write. */
        return (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text)) ||
               error_set_errno(error, errno, "Cannot set the ids of a user namespace");
}

/* The files of an ended child are root's in a user's view: there it has to wait for its end. */
static int wait_in_new(int told, int begun) {
        char byte = 0;

        if (syscall(SYS_unshare, CLONE_NEWUSER) == 0)
                (void) !write(begun, &byte, 1);
        close(begun);
        return (int) !read(told, &byte, 1);
}

static int write_maps_and_open(pid_t pid, const GArray *uids, const GArray *gids, GError **error) {
        int fd = -1;

        if (!write_map(pid, "uid_map", uids, error) || !write_map(pid, "gid_map", gids, error))
                return -1;
        fd = open_of(pid, "ns/user", O_RDONLY);
        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot open a user namespace");
}

static int make_in_view(const GArray *uids, const GArray *gids, GError **error) {
        int told[2] = { -1, -1 }, begun[2] = { -1, -1 }, fd = -1;
        char byte;
        pid_t pid = -1;

        if (pipe2(told, O_CLOEXEC) == 0 && pipe2(begun, O_CLOEXEC) == 0)
                pid = fork();
        if (pid == 0) {
                close(told[1]);
                _exit(wait_in_new(told[0], begun[1]));
        }
        fd_close(&begun[1]);
        if (pid > 0 && read(begun[0], &byte, 1) == 1)
                fd = write_maps_and_open(pid, uids, gids, error);
        else
                error_set(error, KT_ERROR_FAILED,
                          "Cannot make a user namespace (see the sysctl user.max_user_namespaces)");
        fd_close(&told[0]);
        fd_close(&told[1]);
        fd_close(&begun[0]);
        if (pid > 0)
                reap(pid);
        return fd;
}

int userns_descriptor_make(const GArray *uids, const GArray *gids, uid_t maker, GError **error) {
        Child child = { .namespace = -1, .errnum = ECANCELED };
        int errnum;
        pid_t pid;

        if (user_view_is_entered())
                return make_in_view(uids, gids, error);
        if (!userns_maker_become(maker, error))
                return -1;
        pid = make_ended_child(&child);
        errnum = errno;
        userns_maker_leave(maker);
        if (pid < 0)
                return error_negative_errno(error, errnum, "Cannot make a user namespace%s",
                                            errnum == ENOSPC ? " (see the sysctl user.max_user_namespaces)" : "");
        if (child.namespace < 0)
                error_set_errno(error, child.errnum, "Cannot open a user namespace");
        else if (!write_map(pid, "uid_map", uids, error) || !write_map(pid, "gid_map", gids, error))
                fd_close(&child.namespace);
        reap(pid);
        return child.namespace;
}

static bool read_map(pid_t pid, const char *name, GArray **ret, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int) pid, name), *text = NULL;
        IdExtent extent;
        int length;

        if (!g_file_get_contents(path, &text, NULL, error))
                return false;
        *ret = id_map_new();
        for (const char *p = text;
             sscanf(p, "%u %u %u%n", &extent.inside, &extent.outside, &extent.count, &length) == 3; p += length)
                g_array_append_val(*ret, extent);
        return true;
}

bool userns_descriptor_read(int fd, GArray **ret_uids, GArray **ret_gids, GError **error) {
        Child child = { .namespace = fd, .errnum = ECANCELED };
        pid_t pid = make_ended_child(&child);
        bool ok;

        if (pid < 0)
                return error_set_errno(error, errno, "Cannot make a process");
        ok = child.errnum == 0 ?
                     read_map(pid, "uid_map", ret_uids, error) && read_map(pid, "gid_map", ret_gids, error) :
                     error_set_errno(error, child.errnum, "Cannot enter the user namespace");
        reap(pid);
        return ok;
}

/* Every id that there is stands for itself. */
static void make_identity(GArray *map) {
        for (guint i = 0; i < map->len; i++) {
                IdExtent *extent = &g_array_index(map, IdExtent, i);

                extent->outside = extent->inside;
        }
}

bool userns_descriptor_read_own(GArray **ret_uids, GArray **ret_gids, GError **error) {
        if (!read_map(getpid(), "uid_map", ret_uids, error) || !read_map(getpid(), "gid_map", ret_gids, error))
                return false;
        make_identity(*ret_uids);
        make_identity(*ret_gids);
        return true;
}

static GArray *find_further(const GArray *own) {
        GArray *ranges = g_array_new(FALSE, FALSE, sizeof(IdRange));

        for (guint i = 0; i < own->len; i++) {
                const IdExtent *extent = &g_array_index(own, IdExtent, i);
                bool has_root = extent->inside == 0;
                IdRange range = { extent->inside + has_root, extent->count - has_root };

                if (range.count > 0)
                        g_array_append_val(ranges, range);
        }
        return ranges;
}

bool userns_descriptor_read_further(GArray **ret_uids, GArray **ret_gids, GError **error) {
        g_autoptr(GArray) uids = NULL, gids = NULL;

        if (!userns_descriptor_read_own(&uids, &gids, error))
                return false;
        *ret_uids = find_further(uids);
        *ret_gids = find_further(gids);
        return true;
}

static bool split(GArray **map, const GArray *own, const char *what, GError **error) {
        g_autoptr(GArray) pieces = id_map_new();
        guint64 wanted = 0, found = 0;

        for (guint i = 0; i < (*map)->len; i++) {
                const IdExtent *whole = &g_array_index(*map, IdExtent, i);

                wanted += whole->count;
                for (guint j = 0; j < own->len; j++) {
                        const IdExtent *place = &g_array_index(own, IdExtent, j);
                        guint64 first = MAX(whole->outside, place->inside);
                        guint64 end = MIN((guint64) whole->outside + whole->count,
                                          (guint64) place->inside + place->count);
                        IdExtent piece = { whole->inside + (guint32) (first - whole->outside), (guint32) first,
                                           (guint32) (end - MIN(first, end)) };

                        if (piece.count > 0)
                                g_array_append_val(pieces, piece);
                        found += piece.count;
                }
        }
        if (found < wanted)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "the map of %s ids has some that the user has not: 0 is she, and from 1 on come those "
                        "of /etc/subuid and /etc/subgid",
                        what);
        g_array_unref(*map);
        *map = g_steal_pointer(&pieces);
        return true;
}

bool userns_descriptor_split(GArray **uids, GArray **gids, GError **error) {
        g_autoptr(GArray) own_uids = NULL, own_gids = NULL;

        return userns_descriptor_read_own(&own_uids, &own_gids, error) && split(uids, own_uids, "user", error) &&
               split(gids, own_gids, "group", error);
}
