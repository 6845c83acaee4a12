/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/base/socket.h"
#include "libstart/base/user-view.h"
#include "libstart/health/check-follow.h"
#include "libstart/health/check-result.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/systemd/systemd-notify.h"

#define TELL_SECONDS 10
#define STATUS_MAX 1000 /* in bytes of printable text; systemd reads 4096 */

/* In a process of its own, as it stays where the payload is. */
static bool tell_beside(const Check *check, const char *state, GError **error) {
        int socket = socket_connect(SOCK_DGRAM, PATH_NOTIFY, error), status = 0;
        pid_t pid;

        if (socket < 0)
                return false;
        pid = fork();
        if (pid == 0) {
                g_autoptr(GError) problem = NULL;

                alarm(TELL_SECONDS);
                if (notify_send_beside(socket, state, strlen(state), check->entry.payload, &problem))
                        _exit(EXIT_SUCCESS);
                log_error("%s: %s", check->unit, problem->message);
                _exit(EXIT_FAILURE);
        }
        fd_closep(&socket);
        return (pid > 0 && process_wait(pid, &status, 0) == pid && status == 0) ||
               error_set(error, KT_ERROR_FAILED, "The user's systemd cannot be told '%s'", state);
}

/* In the payload's name, which is the main process of its unit. */
static bool tell(const Check *check, const char *state, GError **error) {
        g_autoptr(Notify) notify = NULL;

        if (user_view_is_entered())
                return tell_beside(check, state, error);
        notify = notify_open_path(PATH_NOTIFY, error);
        return notify && notify_send_as(notify, state, strlen(state), check->entry.payload, error);
}

/* The status was what libstart has said it waits for. */
static bool tell_ready(const Check *check, GError **error) {
        return tell(check, "READY=1\nSTATUS=", error);
}

/* Since the check has ended, somebody may have stopped the container, which is to stay so, or restarted it. */
static bool restart(const Check *check, GError **error) {
        g_autofree char *unit = g_strconcat(check->unit, ".service", NULL);

        return check_is_over(check) || systemd_call("TryRestartUnit", unit, "fail", error);
}

static bool end_payload(const Check *check, GError **error) {
        g_autofree char *payload = g_strdup_printf("%d", (int) check->entry.payload);
        const char *const stop[] = { KEYTURN_BINDIR "/keyturnctl", "end-payload", check->unit, payload, NULL };

        return host_program_run(stop, NULL, error);
}

/* The start fails, and systemctl status shows why. */
static bool give_up(const Check *check, GError **error) {
        const GPtrArray *log = check->record->log;
        g_autofree char *said = log->len > 0 ? check_result_describe(log->pdata[log->len - 1]) : g_strdup("");
        g_autofree char *why = g_strdup_printf("Notify=healthy waits for a health check that cannot be executed: %s",
                                               said);
        g_autofree char *some = g_strndup(why, STATUS_MAX), *valid = g_utf8_make_valid(some, -1);
        g_autofree char *state = g_strconcat("STATUS=", valid, NULL);
        bool told;

        log_error("%s: %s. If the payload makes it, set HealthStartPeriod=; it is ended now", check->unit, why);
        told = tell(check, state, error);
        return end_payload(check, told ? error : NULL) && told;
}

/* A unit that waits for this check to succeed has no stop of its own to wait for, so nothing below can wait for us.
 */
static bool act(const Check *check, GError **error) {
        switch (check->plan->on_failure) {
        case HEALTH_NOTHING:
                return true;
        case HEALTH_KILL:
                return syscall(SYS_pidfd_send_signal, check->payload, SIGKILL, NULL, 0) == 0 ||
                       check_is_over(check) || error_set_errno(error, errno, "Cannot kill the payload");
        case HEALTH_RESTART:
                return restart(check, error);
        case HEALTH_STOP:
                return end_payload(check, error);
        }
        g_return_val_if_reached(false);
}

bool check_follow_is_needed(const Check *check, guint consequences) {
        return consequences & (HEALTH_TELL_READY | HEALTH_STARTUP_FAILED | HEALTH_HOPELESS) ||
               (consequences & HEALTH_ACT && check->plan->on_failure != HEALTH_NOTHING);
}

bool check_follow(Check *check, CheckTurn turn, guint consequences, GError **error) {
        GError **first = error;
        bool ok = true, is_told = false, is_timed;

#define TRY(what) (ok = (what) && ok, first = ok ? error : NULL)
        if (consequences & HEALTH_TELL_READY)
                TRY(is_told = tell_ready(check, first));
        TRY(is_timed = check_timer_pass_on(check, turn, first));
        TRY(check_settle(check, is_told, is_timed, first));
        if (consequences & HEALTH_HOPELESS)
                TRY(give_up(check, first));
        else if (consequences & HEALTH_STARTUP_FAILED) {
                log_warning("%s is restarted: its startup check has failed too often", check->unit);
                TRY(restart(check, first));
        } else if (consequences & HEALTH_ACT)
                TRY(act(check, first));
#undef TRY
        return ok;
}
