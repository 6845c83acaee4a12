/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"

static bool is_entered;

/* 0 where there is none. The user has written it: whatever process it names, this one can enter namespaces that
 * are the user's and no others. */
static pid_t find_holder(void) {
        const char *directory = getenv("XDG_RUNTIME_DIR");
        g_autofree char *path = g_build_filename(directory ?: "/", USER_VIEW_HOLDER, NULL), *text = NULL;
        guint64 pid = 0;

        if (!directory || !g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        g_ascii_string_to_unsigned(g_strchomp(text), 10, 1, G_MAXINT32, &pid, NULL);
        return (pid_t) pid;
}

bool user_view_enter(GError **error) {
        _cleanup_close_ int holder = -1;
        pid_t pid;

        if (getauxval(AT_EUID) == 0)
                return true;
        pid = find_holder();
        holder = pid == 0 ? -1 : (int) syscall(SYS_pidfd_open, pid, 0);
        if (holder < 0 && (pid == 0 || errno == ESRCH))
                return error_set(
                        error, KT_ERROR_NOT_FOUND,
                        "keyturn-view.service of this user does not run: systemctl --user start keyturn-view");
        if (holder < 0)
                return error_set_errno(error, errno, "Cannot open the process of keyturn-view.service");
        if (setns(holder, CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot enter the namespaces of keyturn-view.service");
        is_entered = true;
        return true;
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

/* The first line of the map is that of root: itself, its id outside, and their number. */
static unsigned find_own(const char *path) {
        g_autofree char *map = NULL;
        unsigned inside, outside = 0;

        if (g_file_get_contents(path, &map, NULL, NULL))
                (void) sscanf(map, "%u %u", &inside, &outside);
        return outside;
}

uid_t user_view_find_uid(void) {
        return find_own("/proc/self/uid_map");
}

gid_t user_view_find_gid(void) {
        return find_own("/proc/self/gid_map");
}

/* Root's /run/keyturn has no holder. */
bool user_view_is_here(void) {
        return is_entered || access("/run/" USER_VIEW_HOLDER, F_OK) == 0;
}
