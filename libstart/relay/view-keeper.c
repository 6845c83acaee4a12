/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/base/user-view.h"
#include "libstart/relay/view-keeper.h"
#include "libstart/systemd/systemd-notify.h"

/* What systemd calls the descriptors of both namespaces. */
#define NAME "view"

/* Ten seconds: keyturn-view.service starts beside this one. */
#define TRIES 2000
#define TRY_USEC 5000

enum { N_NAMESPACES = 2 };

static bool leave_with_systemd(const int namespaces[static N_NAMESPACES], const char *address, GError **error) {
        static const char drop[] = "FDSTOREREMOVE=1\nFDNAME=" NAME, keep[] = "FDSTORE=1\nFDPOLL=0\nFDNAME=" NAME;
        const SocketExtra extra = { SCM_RIGHTS, namespaces, N_NAMESPACES * sizeof *namespaces };
        _cleanup_close_ int systemd = socket_connect(SOCK_DGRAM, address, error);
        ssize_t n;

        if (systemd < 0)
                return false;
        n = socket_send(systemd, NULL, drop, strlen(drop), NULL, 0);
        if (n >= 0)
                n = socket_send(systemd, NULL, keep, strlen(keep), &extra, 0);
        return n >= 0 ? notify_await_barrier(systemd, error) :
                        error_set_errno(error, (int) -n, "Cannot leave the user's namespaces with systemd");
}

/* Who has made the view ends as soon as this process is its holder: the store has it before that. */
static bool take_over(int holder, const char *address, GError **error) {
        int namespaces[N_NAMESPACES];
        bool is_kept;

        if (setns(holder, CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot enter the namespaces of keyturn-view.service");
        namespaces[0] = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
        namespaces[1] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        is_kept = (namespaces[0] >= 0 && namespaces[1] >= 0) ||
                  error_set_errno(error, errno, "Cannot open the user's namespaces");
        is_kept = is_kept && (!address || leave_with_systemd(namespaces, address, error));
        fds_close(namespaces, N_NAMESPACES);
        return is_kept && user_view_announce(error);
}

/* systemd says nothing of their order. */
static bool enter_kept(const int namespaces[static N_NAMESPACES], GError **error) {
        int user = setns(namespaces[0], CLONE_NEWUSER) == 0 ? 0 : 1;

        if ((user == 1 && setns(namespaces[1], CLONE_NEWUSER) < 0) || setns(namespaces[1 - user], CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot enter the user's namespaces that systemd has kept");
        return user_view_announce(error);
}

static guint find_kept(const ListenFd *received, int ret[static N_NAMESPACES]) {
        guint n = 0;

        for (const ListenFd *r = received; r->fd >= 0 && n < N_NAMESPACES; r++)
                if (g_str_equal(r->name, NAME))
                        ret[n++] = r->fd;
        return n;
}

static bool take(const int *kept, guint n_kept, const char *address, GError **error) {
        for (int i = 0; i < TRIES; i++) {
                pid_t pid;
                _cleanup_close_ int holder = user_view_open_holder(&pid);

                if (holder >= 0)
                        return take_over(holder, address, error);
                if (n_kept == N_NAMESPACES)
                        return enter_kept(kept, error);
                g_usleep(TRY_USEC);
        }
        return error_set(error, KT_ERROR_NOT_FOUND,
                         "The user has no namespaces for containers: systemctl --user restart keyturn-view");
}

bool view_keeper_take(const ListenFd *received, const char *address, GError **error) {
        int kept[N_NAMESPACES];
        guint n_kept;
        bool is_taken;

        if (getauxval(AT_EUID) == 0)
                return true;
        n_kept = find_kept(received, kept);
        is_taken = take(kept, n_kept, address, error);
        fds_close(kept, n_kept);
        if (is_taken)
                user_view_assume();
        return is_taken;
}
