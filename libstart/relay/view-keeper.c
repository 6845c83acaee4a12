/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/base/socket.h"
#include "libstart/base/user-view.h"
#include "libstart/relay/view-keeper.h"
#include "libstart/systemd/systemd-notify.h"

/* What systemd calls the descriptors of both namespaces. */
#define NAME "view"

/* Ten seconds: keyturn-view.service starts beside this one. */
#define TRIES 2000
#define TRY_USEC 5000

#define SETTLES 3

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
static bool keep(const char *address, GError **error) {
        const int namespaces[] = { open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC),
                                   open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC) };
        bool done = (namespaces[0] >= 0 && namespaces[1] >= 0) ||
                    error_set_errno(error, errno, "Cannot open the user's namespaces");

        done = done && (!address || leave_with_systemd(namespaces, address, error));
        fds_close(namespaces, N_NAMESPACES);
        return done;
}

/* systemd says nothing of their order. */
static bool enter_kept(const int namespaces[static N_NAMESPACES]) {
        int user = ioctl(namespaces[0], NS_GET_NSTYPE) == CLONE_NEWUSER ? 0 : 1;

        return setns(namespaces[user], CLONE_NEWUSER) == 0 && setns(namespaces[1 - user], CLONE_NEWNS) == 0;
}

static guint find_kept(const ListenFd *received, int ret[static N_NAMESPACES]) {
        guint n = 0;

        for (const ListenFd *r = received; r->fd >= 0 && n < N_NAMESPACES; r++)
                if (g_str_equal(r->name, NAME))
                        ret[n++] = r->fd;
        return n;
}

/* A store without the view, or a holder that nobody knows, stays so: no other one comes and mends it. So it is tried
 * again. What fails each time keeps nobody's output: the relay goes on. */
static void settle(const char *address, bool is_kept, int lock) {
        g_autoptr(GError) problem = NULL;

        for (int i = 0; i < SETTLES; i++) {
                g_clear_error(&problem);
                is_kept = is_kept || keep(address, &problem);
                if (is_kept && user_view_announce(lock, &problem))
                        return;
        }
        if (!is_kept)
                (void) user_view_announce(lock, NULL);
        log_error("%s: later starts of this user may fail", problem->message);
}

/* Once. A holder that cannot be entered is none: it may have ended meanwhile. */
static bool look(const int *kept, const char *address, GError **error) {
        _cleanup_close_ int lock = user_view_lock(error);

        if (lock < 0)
                return false;
        if (user_view_try())
                settle(address, /* is_kept= */ false, lock);
        else if (kept && enter_kept(kept)) {
                user_view_assume();
                settle(address, /* is_kept= */ true, lock);
        }
        return true;
}

/* What systemd had kept is lost, and the unit that makes it does not know. One that has failed is needed only where
 * containers run. */
static void ask_for_view(bool has_output) {
        const char *words[] = { "/usr/bin/systemctl", "--user", "--no-block", has_output ? "restart" : "try-restart",
                                "keyturn-view",       NULL };

        (void) host_program_run(words, NULL, NULL);
}

static bool take(const int *kept, const char *address, bool has_output, GError **error) {
        for (int i = 0; i < TRIES && !user_view_is_entered(); i++) {
                if (i > 0)
                        g_usleep(TRY_USEC);
                if (!look(kept, address, error))
                        return false;
        }
        if (user_view_is_entered())
                return true;
        ask_for_view(has_output);
        return error_set(error, has_output ? KT_ERROR_NOT_FOUND : KT_ERROR_USAGE,
                         "The user has no namespaces for containers: systemctl --user restart keyturn-view");
}

bool view_keeper_take(const ListenFd *received, const char *address, bool has_output, GError **error) {
        int kept[N_NAMESPACES];
        guint n_kept;
        bool is_taken;

        if (getauxval(AT_EUID) == 0)
                return true;
        n_kept = find_kept(received, kept);
        is_taken = take(n_kept == N_NAMESPACES ? kept : NULL, address, has_output, error);
        fds_close(kept, n_kept);
        return is_taken;
}
