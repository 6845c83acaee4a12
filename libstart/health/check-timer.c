/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/host-program.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/health/check-timer.h"
#include "libstart/systemd/systemd-call.h"

#define SHARED_TIMER "keyturn-health-every@%s.timer"

/* Takes ownership of unit. One that nobody has written, or that is masked, need not be started nor stopped. */
static bool call(const char *method, char *unit, const char *mode, GError **error) {
        g_autofree char *owned = unit, *state = NULL;
        g_autoptr(GError) problem = NULL;

        if (systemd_call(method, owned, mode, &problem))
                return true;
        state = systemd_unit_text(owned, SYSTEMD_UNIT, "LoadState", NULL);
        if (state && !g_str_equal(state, "loaded"))
                return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

/* Take ownership of unit. */
static bool start_unit(char *unit, GError **error) {
        /* It is bound to its container, and must not start one that somebody has just stopped, nor fail where that is
         * being stopped: systemd ends it with the container, or at once. */
        return call("StartUnit", unit, "ignore-requirements", error);
}

static bool stop_unit(char *unit, GError **error) {
        return call("StopUnit", unit, "fail", error);
}

/*
 * The timer of an image's check, whose interval nobody knew before the start
 */

#define TRANSIENT_DIR "/run/systemd/transient/"
#define PATIENCE 50
#define PATIENCE_USEC 20000

/* A restart of the container restarts it, too, but the image may be another one. systemd forgets what has ended soon.
 */
static void remove_timer(const Check *check) {
        g_autofree char *timer = g_strdup_printf("keyturn-health@%s.timer", check->unit);
        g_autofree char *path = g_strconcat(TRANSIENT_DIR, timer, NULL);

        if (access(path, F_OK) < 0)
                return;
        (void) systemd_call("StopUnit", timer, "fail", NULL);
        for (int i = 0; i < PATIENCE && access(path, F_OK) == 0; i++)
                g_usleep(PATIENCE_USEC);
}

static bool make_timer(const Check *check, GError **error) {
        g_autofree char *unit = g_strdup_printf("--unit=" HEALTH_SERVICE, check->unit);
        g_autofree char *span = g_strdup_printf("--on-unit-inactive=%" G_GUINT64_FORMAT "us",
                                                check->plan->regular.interval);
        g_autofree char *description = g_strdup_printf("--description=Health Checks of %s", check->unit);
        g_autofree char *bound = g_strdup_printf("--timer-property=BindsTo=%s.service", check->unit);
        const char *const words[] = { "/usr/bin/systemd-run",
                                      user_view_is_entered() ? "--user" : "--system",
                                      "--quiet",
                                      "--collect",
                                      description,
                                      unit,
                                      span,
                                      bound,
                                      "--timer-property=AccuracySec=1ms",
                                      "--timer-property=IgnoreOnIsolate=yes",
                                      NULL };

        remove_timer(check);
        return host_program_run(words, NULL, error);
}

/*
 * The shared one
 */

/* As systemd and go_duration_parse() read it. Transfer full. */
static char *print_span(guint64 usec) {
        if (usec % G_USEC_PER_SEC == 0)
                return g_strdup_printf("%" G_GUINT64_FORMAT "s", usec / G_USEC_PER_SEC);
        return usec % 1000 == 0 ? g_strdup_printf("%" G_GUINT64_FORMAT "ms", usec / 1000) :
                                  g_strdup_printf("%" G_GUINT64_FORMAT "us", usec);
}

/* "+" is in front of names that would be in the way of keyturn's own. */
char **check_timer_find_shared(const char *span) {
        g_autoptr(GStrvBuilder) units = g_strv_builder_new();
        g_auto(GStrv) names = directory_list(PATH_RUN, NULL);

        for (char **name = names; name && *name; name++) {
                g_autofree char *link = g_build_filename(PATH_RUN, *name, HEALTH_TURN_LINK, NULL);
                g_autofree char *target = **name != '.' ? g_file_read_link(link, NULL) : NULL;

                if (g_strcmp0(target, span) == 0)
                        g_strv_builder_add(units, *name + (**name == '+'));
        }
        return g_strv_builder_end(units);
}

/* Somebody laid something upon its checks, or could have, in one of the many places of a user's manager. */
static bool is_alone(const Check *check) {
        static const char *const directories[] = {
                "/etc/systemd/system",         "/etc/systemd/system.control",   "/run/systemd/system",
                "/run/systemd/system.control", "/run/systemd/generator",        "/run/systemd/generator.early",
                "/run/systemd/generator.late", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *own = g_strdup_printf("%s/" HEALTH_SERVICE ".d", directories[i], check->unit);
                g_autofree char *all = g_strdup_printf("%s/" HEALTH_SERVICE ".d", directories[i], "");

                if (access(own, F_OK) == 0 || access(all, F_OK) == 0)
                        return true;
        }
        return user_view_is_entered();
}

/* The link first: whoever ends the timer looks for links after that (check_timer_end()). */
static bool share(const Check *check, GError **error) {
        g_autofree char *span = print_span(check->plan->regular.interval);
        g_autofree char *timer = g_strdup_printf(SHARED_TIMER, span);

        if (symlinkat(span, check->directory, HEALTH_TURN_LINK) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s/" HEALTH_TURN_LINK "'", check->path);
        return systemd_call("StartUnit", timer, "replace", error);
}

bool check_timer_end(const char *span, GError **error) {
        g_autofree char *timer = g_strdup_printf(SHARED_TIMER, span);
        g_auto(GStrv) now = NULL;

        if (!systemd_call("StopUnit", timer, "replace", error))
                return false;
        now = check_timer_find_shared(span);
        return !now[0] || systemd_call("StartUnit", timer, "replace", error);
}

/*
 * Whose turn
 */

static bool has_link(const Check *check) {
        return faccessat(check->directory, HEALTH_TURN_LINK, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static CheckTurn find_turn(const Check *check) {
        return health_state_is_starting_up(&check->record->state, check->plan)   ? CHECK_STARTUP :
               check->record->state.status != HEALTH_STARTING && has_link(check) ? CHECK_SHARED :
                                                                                   CHECK_OWN;
}

CheckTurn check_timer_turn(const Check *check) {
        return check->record->log->len == 0 || check->record->state.untimed ? CHECK_FIRST : find_turn(check);
}

static CheckTurn find_next(const Check *check) {
        CheckTurn now = find_turn(check);

        return now == CHECK_OWN && check->record->state.status != HEALTH_STARTING && !is_alone(check) ? CHECK_SHARED :
                                                                                                        now;
}

static bool start_own(const Check *check, GError **error) {
        return check->plan->timer == HEALTH_TIMER_TRANSIENT ?
                       make_timer(check, error) :
                       start_unit(g_strdup_printf(HEALTH_TIMER, check->unit), error);
}

static bool start(const Check *check, CheckTurn turn, GError **error) {
        if (turn == CHECK_STARTUP)
                return check->plan->startup.interval == 0 ||
                       start_unit(g_strdup_printf(HEALTH_STARTUP_TIMER, check->unit), error);
        if (check->plan->timer == HEALTH_TIMER_NONE)
                return true;
        return turn == CHECK_SHARED ? share(check, error) : start_own(check, error);
}

/* A first check may find one that was restarted with the container. */
static bool stop(const Check *check, CheckTurn turn, GError **error) {
        if (turn == CHECK_STARTUP)
                return check->plan->startup.interval == 0 ||
                       stop_unit(g_strdup_printf(HEALTH_STARTUP_TIMER, check->unit), error);
        if (check->plan->timer == HEALTH_TIMER_TRANSIENT)
                remove_timer(check);
        return check->plan->timer != HEALTH_TIMER_UNIT ||
               stop_unit(g_strdup_printf(HEALTH_TIMER, check->unit), error);
}

bool check_timer_pass_on(const Check *check, CheckTurn turn, GError **error) {
        CheckTurn next = find_next(check);
        bool is_for_next = next == CHECK_OWN && turn != CHECK_STARTUP; /* what stop() would stop */

        if (next == turn)
                return true;
        return start(check, next, error) && (is_for_next || stop(check, turn, error));
}
