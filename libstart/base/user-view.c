/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"

static bool is_entered;

/* Below $XDG_RUNTIME_DIR: the number of the process that holds the view, and when it began. */
#define HOLDER "keyturn/.view"

/* Five seconds. */
#define TRIES 500
#define TRY_USEC 10000

/* Transfer full. NULL where nobody has said where. */
static char *holder_path(void) {
        const char *directory = getenv("XDG_RUNTIME_DIR");

        return directory ? g_build_filename(directory, HOLDER, NULL) : NULL;
}

/* Always so long (user_view_announce()). False with errno; ENOENT where it names nobody. */
static bool read_holder(const char *path, pid_t *ret_pid, guint64 *ret_begin) {
        char text[64] = "";
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || fd_read_begin(fd, text, sizeof text - 1) < 0)
                return false;
        if (sscanf(text, "%d %" G_GUINT64_FORMAT, ret_pid, ret_begin) == 2)
                return true;
        errno = ENOENT;
        return false;
}

/* In ticks since the boot: a process that has got the number of an ended one began later. 0 with errno. */
static guint64 find_begin(pid_t pid) {
        g_autofree char *ticks = process_read_stat(pid, 22);

        return ticks ? g_ascii_strtoull(ticks, NULL, 10) : 0;
}

/* An ended one's number may be that of a thread now, or of somebody else's process that cannot be seen (hidepid= of
 * proc(5)), for which the kernel has other errors. */
static bool is_gone(int error) {
        return error == ESRCH || error == ENOENT || error == EINVAL || error == EPERM || error == EACCES;
}

/* The user has written the file: whatever process it names, this one can enter namespaces that are the user's and no
 * others. But a payload may have the number of a holder that has ended, and its namespaces are hostile. */
int user_view_open_holder(pid_t *ret_pid) {
        g_autofree char *path = holder_path();
        _cleanup_close_ int holder = -1;
        guint64 begin, found = 0;

        errno = ENOENT;
        if (!path || !read_holder(path, ret_pid, &begin))
                return -1;
        holder = (int) syscall(SYS_pidfd_open, *ret_pid, 0);
        if (holder >= 0)
                found = find_begin(*ret_pid);
        if (found == 0 && !is_gone(errno))
                return -1;
        if (found != begin) {
                errno = ESRCH;
                return -1;
        }
        return fd_steal(&holder);
}

int user_view_lock(GError **error) {
        g_autofree char *path = holder_path();
        _cleanup_close_ int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;

        if (!path)
                return error_negative(error, KT_ERROR_USAGE, "XDG_RUNTIME_DIR is not set");
        if (fd < 0 || flock(fd, LOCK_EX) < 0)
                return error_negative_errno(error, errno, "Cannot lock '%s'", path);
        return fd_steal(&fd);
}

/* Always as long, over what was there, so that it needs no room. Who reads half of each finds no such process, and
 * looks again. */
bool user_view_announce(int lock, GError **error) {
        guint64 begin = find_begin(getpid());
        g_autofree char *text = g_strdup_printf("%-20d %-20" G_GUINT64_FORMAT "\n", (int) getpid(), begin);

        return (begin != 0 && lseek(lock, 0, SEEK_SET) == 0 && fd_write_all(lock, text, strlen(text))) ||
               error_set_errno(error, errno, "Cannot write down who holds the user's namespaces");
}

bool user_view_try(void) {
        pid_t pid;
        _cleanup_close_ int holder = user_view_open_holder(&pid);

        is_entered = holder >= 0 && setns(holder, CLONE_NEWUSER | CLONE_NEWNS) == 0;
        return is_entered;
}

bool user_view_enter(GError **error) {
        if (getauxval(AT_EUID) == 0)
                return true;
        for (int i = 0; !user_view_try() && errno == ESRCH && i < TRIES; i++)
                g_usleep(TRY_USEC);
        if (is_entered)
                return true;
        if (errno == ENOENT)
                return error_set(
                        error, KT_ERROR_NOT_FOUND,
                        "keyturn-view.service of this user does not run: systemctl --user start keyturn-view");
        if (errno == EACCES || errno == EPERM)
                return error_set_errno(
                        error, errno,
                        "Cannot enter the namespaces of keyturn-view.service, most likely because systemd has made "
                        "a user namespace for PrivateTmp=, ProtectSystem= and the like: remove them from "
                        "[Service]; the container sees of the host what its file mounts, and no more");
        return error_set_errno(
                error, errno,
                "Cannot enter the namespaces of keyturn-view.service, which keyturn-relay.service should "
                "have: systemctl --user kill keyturn-relay takes them anew; if that does not help, systemctl --user "
                "restart keyturn-view");
}

bool user_view_enter_anew(char *const argv[], GError **error) {
        g_autofree char *self = NULL;

        if (getauxval(AT_EUID) == 0) {
                is_entered = user_view_is_here();
                return true;
        }
        self = g_file_read_link("/proc/self/exe", error);
        if (!self || !user_view_enter(error))
                return false;
        execv(self, argv);
        return error_set_errno(error, errno, "Cannot execute '%s'", self);
}

void user_view_assume(void) {
        is_entered = true;
}

bool user_view_is_entered(void) {
        return is_entered;
}

bool user_view_keeps_groups(void) {
        g_autofree char *said = NULL;

        return is_entered && g_file_get_contents("/proc/self/setgroups", &said, NULL, NULL) &&
               g_str_has_prefix(said, "deny");
}

/* Who has entered by itself was executed with the id outside, which needs no system call and cannot fail. Else it is
 * in the first line of the map, that of root: itself, its id outside, and their number. */
static unsigned find_own(unsigned executed, const char *path) {
        g_autofree char *map = NULL;
        unsigned inside, outside;

        if (executed != 0)
                return executed;
        if (g_file_get_contents(path, &map, NULL, NULL) && sscanf(map, "%u %u", &inside, &outside) == 2)
                return outside;
        log_error("Cannot read '%s', to know whose this view is", path);
        _exit(EXIT_KEYTURN);
}

uid_t user_view_find_uid(void) {
        return find_own((unsigned) getauxval(AT_UID), "/proc/self/uid_map");
}

gid_t user_view_find_gid(void) {
        return find_own((unsigned) getauxval(AT_GID), "/proc/self/gid_map");
}

/* Root's /run/keyturn has no holder. */
bool user_view_is_here(void) {
        return is_entered || access("/run/" HOLDER, F_OK) == 0;
}
