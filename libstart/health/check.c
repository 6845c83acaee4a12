/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/status.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/config/small-file.h"
#include "libstart/health/check-result.h"
#include "libstart/health/check.h"
#include "libstart/health/health-log-file.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/value/runtime-kind.h"

#define GROUP "keyturn-health"
#define OUTPUT_MAX 65536 /* also where no limit is asked for */
#define FILE_MAX (64 * 1024 * 1024)
#define RECORD_MAX (8 * HEALTH_LOG_SIZE_MAX) /* with what JSON makes of it */

Check *check_new(const char *unit) {
        Check *check = g_new0(Check, 1);

        check->unit = g_strdup(unit);
        check->directory = check->plan_file = check->payload = -1;
        check->probe.process = check->probe.group = -1;
        return check;
}

void check_free(Check *check) {
        g_free(check->unit);
        g_free(check->path);
        fd_closep(&check->directory);
        fd_closep(&check->plan_file);
        health_plan_free(check->plan);
        health_record_free(check->record);
        g_free(check->cgroup);
        g_free(check->config);
        fd_closep(&check->payload);
        probe_clear(&check->probe);
        g_clear_pointer(&check->begin, g_date_time_unref);
        g_clear_error(&check->unread);
        g_clear_error(&check->untried);
        g_free(check);
}

/*
 * What there is
 */

/* Of services that would be in the way of keyturn's own, "+" is in front (generator/files/names.c). */
static bool open_state(Check *check, GError **error) {
        static const char *const parents[] = { PATH_RUN "/+", PATH_RUN "/" };

        for (size_t i = 0; i < G_N_ELEMENTS(parents); i++) {
                g_free(check->path);
                check->path = g_strconcat(parents[i], check->unit, NULL);
                check->directory = open(check->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (check->directory >= 0)
                        return true;
                if (errno != ENOENT && errno != ENOTDIR)
                        return error_set_errno(error, errno, "Cannot open '%s'", check->path);
        }
        return false;
}

static char *read_fd(int fd, const char *name, size_t max, GError **error) {
        char *text;

        return file_read_fd(fd, name, max, &text, NULL, error) ? text : NULL;
}

static int open_at(const Check *check, const char *name, GError **error) {
        int fd = openat(check->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot open '%s'", name);
}

static bool lock(const Check *check, bool wait, GError **error) {
        int r;

        while ((r = flock(check->plan_file, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) < 0 && errno == EINTR)
                ;
        if (r < 0 && errno != EWOULDBLOCK)
                return error_set_errno(error, errno, "Cannot lock '%s/" HEALTH_PLAN_FILE "'", check->path);
        if (r < 0)
                log_notice("%s is not checked this time: its check before this one has not ended", check->unit);
        return r == 0;
}

/* With its container, its directory has gone. */
static bool is_stopped(const Check *check) {
        struct stat st;

        return fstat(check->directory, &st) == 0 && st.st_nlink == 0;
}

/* What a check before this one has written. One that nobody can read is no reason not to check any more. */
static HealthRecord *read_record(const Check *check, GError **error) {
        _cleanup_close_ int fd = open_at(check, HEALTH_RECORD_FILE, error);
        g_autofree char *text = fd < 0 ? NULL : read_fd(fd, HEALTH_RECORD_FILE, RECORD_MAX, error);

        return (text ? health_record_parse(text, error) : NULL) ?: health_record_new();
}

/* It goes with its directory when the container has been stopped: then nobody misses it. */
static void tell_unread(const Check *check) {
        if (check->unread && !is_stopped(check))
                log_warning("%s: The record of its health is begun anew: %s/" HEALTH_RECORD_FILE ": %s", check->unit,
                            check->path, check->unread->message);
}

static bool read_files(Check *check, GError **error) {
        g_autofree char *plan = read_fd(check->plan_file, HEALTH_PLAN_FILE, FILE_MAX, error);

        if (!plan)
                return error_prefix(error, "%s: ", check->path);
        check->plan = health_plan_salvage(plan, &check->untried);
        if (check->untried)
                g_prefix_error(&check->untried,
                               "Restart %s.service, as '%s/" HEALTH_PLAN_FILE "' cannot be used: ", check->unit,
                               check->path);
        if (check->untried && !check->plan)
                return error_set(error, KT_ERROR_UNSUPPORTED, "%s", check->untried->message);
        check->record = read_record(check, &check->unread);
        return true;
}

static bool open_container(Check *check, bool wait, GError **error) {
        g_autoptr(GError) missing = NULL;

        if (strchr(check->unit, '/'))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit", check->unit);
        if (!open_state(check, error))
                return false;
        check->plan_file = open_at(check, HEALTH_PLAN_FILE, &missing);
        if (check->plan_file < 0 && !g_error_matches(missing, KT_ERROR, KT_ERROR_NOT_FOUND))
                g_propagate_error(error, g_steal_pointer(&missing));
        return check->plan_file >= 0 && lock(check, wait, error) && read_files(check, error);
}

bool check_is_over(const Check *check) {
        struct pollfd ask = { .fd = check->payload, .events = POLLIN };

        return poll(&ask, 1, 0) > 0;
}

/* Its commands go where the payload is, or below that. */
static bool is_runc(const Check *check) {
        return check->plan->runtime && runtime_kind_find(check->plan->runtime) == RUNTIME_RUNC;
}

/* The cgroup of the unit, in which the payload is, or below which (an init); of a container of runc's, the payload's.
 * systemd puts "_" before names that would have a meaning for the kernel. */
static char *find_unit_cgroup(const Check *check, GError **error) {
        g_autofree char *whole = process_find_cgroup(check->entry.payload);
        g_autofree char *name = g_strconcat(check->unit, ".service", NULL);
        g_autoptr(GString) cgroup = g_string_new(NULL);
        g_auto(GStrv) parts = whole ? g_strsplit(whole + strlen("/"), "/", -1) : NULL;

        for (char **part = parts; part && *part; part++) {
                g_string_append_printf(cgroup, "/%s", *part);
                if (g_str_equal(*part, name) || (**part == '_' && g_str_equal(*part + 1, name)))
                        return g_strdup(is_runc(check) ? whole : cgroup->str);
        }
        if (!whole)
                error_set(error, KT_ERROR_FAILED, "Cannot find out in which control group the payload is");
        else
                error_set(error, KT_ERROR_UNSUPPORTED, "The payload is not in the control group of %s.service",
                          check->unit);
        return NULL;
}

#define PATIENCE_USEC (10 * G_TIME_SPAN_SECOND)
#define PAUSE_USEC (20 * G_TIME_SPAN_MILLISECOND)

/* In the foreground the first check is asked for before the payload is there, as libstart is busy with that after it.
 * Where the status is written, the payload has all that is laid upon it. */
static void await_start(const Check *check) {
        g_autofree char *status = g_build_filename(check->plan->name, "status", NULL);
        gint64 deadline = g_get_monotonic_time() + PATIENCE_USEC;

        while (check->record->log->len == 0 && !is_stopped(check) &&
               faccessat(check->directory, status, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
               g_get_monotonic_time() < deadline)
                g_usleep(PAUSE_USEC);
}

/* It is not started yet, or not any more. */
static bool fail_unless_gone(libcrun_error_t *err, GError **error) {
        int errnum = crun_error_get_errno(err);

        if (errnum == ENOENT || errnum == ESRCH)
                libcrun_error_release(err);
        else
                (void) enter_fail(err, error);
        return false;
}

/* Is it the process that libstart started, in the cgroup of that unit? False without an error where it has ended. */
static bool find_payload(Check *check, GError **error) {
        libcrun_container_status_t status = { 0 };
        g_autoptr(GError) problem = NULL;
        libcrun_error_t err = NULL;
        g_autofree char *cgroup = NULL;
        int running, errnum;

        check->entry.root = check->path;
        check->entry.id = check->plan->name;
        check->entry.runtime = check->plan->runtime;
        if (libcrun_read_container_status(&status, check->path, check->plan->name, &err) < 0)
                return fail_unless_gone(&err, error);
        check->entry.payload = status.pid;
        check->payload = (int) syscall(SYS_pidfd_open, status.pid, 0);
        errnum = errno;
        running = libcrun_is_container_running(&status, &err);
        if (running == 0 && !check_is_over(check)) /* what it cannot read it takes for the end */
                running = libcrun_is_container_running(&status, &err);
        libcrun_free_container_status(&status);
        if (running < 0)
                return fail_unless_gone(&err, error);
        if (running > 0 && check->payload < 0)
                return error_set_errno(error, errnum, "Cannot watch process %d", (int) check->entry.payload);
        cgroup = running > 0 ? find_unit_cgroup(check, &problem) : NULL;
        if (problem && !check_is_over(check))
                g_propagate_error(error, g_steal_pointer(&problem));
        if (cgroup)
                check->cgroup = g_strconcat(cgroup, "/" GROUP, NULL);
        check->entry.cgroup = check->cgroup;
        check->config = g_build_filename(check->path, check->plan->name, "config.json", NULL);
        return cgroup != NULL;
}

static bool write_record(const Check *check, GError **error) {
        static const char temporary[] = HEALTH_RECORD_FILE ".new";
        const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        g_autofree char *text = health_record_print(check->record);
        _cleanup_close_ int fd = -1;

        (void) unlinkat(check->directory, temporary, 0); /* that of a check which was killed */
        fd = openat(check->directory, temporary, flags, 0600);
        if (fd >= 0 && fd_write_all(fd, text, strlen(text)) &&
            renameat(check->directory, temporary, check->directory, HEALTH_RECORD_FILE) == 0)
                return true;
        /* systemd has just removed the directory: the container has ended. */
        if (errno != ENOENT)
                error_set_errno(error, errno, "Cannot write '%s/" HEALTH_RECORD_FILE "'", check->path);
        (void) unlinkat(check->directory, temporary, 0);
        return false;
}

/*
 * As what
 */

/* In the place of a result, and none of the container's: its health is what it was. */
static bool write_untried(Check *check, const char *why, GError **error) {
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        const ProbeResult result = { .exit_status = EXIT_KEYTURN, .output = why };

        health_record_add(check->record, check_result_make(&result, now), check->plan->max_log_count);
        return write_record(check, error);
}

/* The generator sees to what [Service] of the file lays upon a process, and nobody to drop-ins for the service. */
static bool check_filters(Check *check, GError **error) {
        g_autofree char *why = NULL;
        guint filters;

        if (!process_filters_count(&filters, error))
                return false;
        if (filters >= check->plan->filters)
                return true;
        why = g_strdup_printf("The check was not run: %u of systemd's filters are upon the payload, and %u upon the "
                              "check. Those of drop-ins for %s.service are not for its checks: write them into "
                              "[Service] of the .container file, and restart the container",
                              check->plan->filters, filters, check->unit);
        return write_untried(check, why, error) && error_set(error, KT_ERROR_UNSUPPORTED, "%s", why);
}

bool check_open(Check *check, bool wait, GError **error) {
        if (!open_container(check, wait, error))
                return false;
        if (wait)
                await_start(check);
        if (!find_payload(check, error))
                return false;
        tell_unread(check);
        return check->untried ||
               ((check->plan->unconfined || enter_check_filter(&check->entry, error)) && check_filters(check, error));
}

/*
 * Its command
 */

static bool is_in_start_period(const HealthPlan *plan) {
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (guint64) now.tv_sec * G_USEC_PER_SEC + (guint64) now.tv_nsec / 1000 <
               plan->started + plan->start_period;
}

void check_begin(Check *check) {
        const HealthPlan *plan = check->plan;
        bool is_startup = health_state_is_starting_up(&check->record->state, plan);
        const HealthCheck *what = is_startup ? &plan->startup : &plan->regular;

        check->in_start_period = is_in_start_period(plan);
        check->begin = g_date_time_new_now_utc();
        if (check->untried)
                return;
        check->probe = (Probe) {
                .entry = &check->entry,
                .config = check->config,
                .command = what->command,
                .timeout = what->timeout,
                .max_output = plan->max_log_size ? MIN(plan->max_log_size, OUTPUT_MAX) : OUTPUT_MAX,
        };
        (void) probe_start(&check->probe, &check->untried);
}

gint64 check_prepare(const Check *check, struct pollfd polls[CHECK_POLLS]) {
        gint64 until = probe_prepare(&check->probe, &polls[0]);

        polls[1] = (struct pollfd) { .fd = check->probe.killed ? -1 : check->payload, .events = POLLIN };
        return check->untried ? 0 : until;
}

bool check_advance(Check *check, const struct pollfd polls[CHECK_POLLS]) {
        if (check->untried || probe_advance(&check->probe, &polls[0]))
                return true;
        if (polls[1].revents && !check->probe.killed)
                probe_kill(&check->probe);
        return false;
}

/*
 * What is left of it
 */

static bool is_current(const Check *check, GError **error) {
        struct stat mine, st;

        if (check_is_over(check))
                return false;
        if (fstat(check->plan_file, &mine) == 0 &&
            fstatat(check->directory, HEALTH_PLAN_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return st.st_ino == mine.st_ino;
        if (errno != ENOENT)
                error_set_errno(error, errno, "Cannot look at '%s/" HEALTH_PLAN_FILE "'", check->path);
        return false;
}

/* systemd sends what is in the control group the signal before it is over, and the payload closes its door. Where the
 * signal is the image's, the unit that sends it is stopped first (systemd/stop-unit.h). */
static bool is_being_stopped(const Check *check) {
        static const char *const prefixes[] = { "", "keyturn-stop@" };

        for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
                g_autofree char *unit = g_strconcat(prefixes[i], check->unit, ".service", NULL);
                g_autofree char *state = systemd_unit_state(unit, NULL);

                if (g_strcmp0(state, "deactivating") == 0)
                        return true;
        }
        return false;
}

static bool has_failed(const Check *check) {
        return check->result.exit_status != 0 || check->result.timed_out;
}

void check_reap(Check *check) {
        if (!check->untried)
                check->result = probe_end(&check->probe);
        else
                check->result = (ProbeResult) { .exit_status = EXIT_KEYTURN, .output = check->untried->message };
        if (check->result.is_left)
                log_warning(
                        "%s: What its check has started cannot be killed, and is not waited for. It has failed, as "
                        "will those that follow until that has ended; 'systemd-cgls -u %s.service' shows it",
                        check->unit, check->unit);
}

bool check_end_can_wait(const Check *check) {
        return has_failed(check) || check->plan->log_directory;
}

static HealthResult *find_result(const Check *check, GError **error) {
        if (!is_current(check, error) || (has_failed(check) && is_being_stopped(check)))
                return NULL;
        return check_result_make(&check->result, check->begin);
}

bool check_end(Check *check, guint *ret_consequences, GError **error) {
        const HealthPlan *plan = check->plan;
        HealthState *state = &check->record->state;
        bool is_startup = health_state_is_starting_up(state, plan);
        HealthResult *result = find_result(check, error);
        g_autoptr(GError) problem = NULL;

        if (!result)
                return false;
        *ret_consequences = health_state_apply(state, plan, result->exit_code, check->in_start_period);
        state->untimed |= check->record->log->len == 0;
        health_record_add(check->record, result, plan->max_log_count);
        if (!write_record(check, error))
                return false;
        check_result_log(check->unit, plan, state, result, is_startup, *ret_consequences);
        if (plan->log_directory && !health_log_file_write(plan, check->record, &problem))
                log_warning("%s: %s", check->unit, problem->message);
        return true;
}

bool check_settle(Check *check, bool is_told, bool is_timed, GError **error) {
        HealthState *state = &check->record->state;

        if (!is_told && !(state->untimed && is_timed))
                return true;
        state->told_ready |= is_told;
        state->untimed = state->untimed && !is_timed;
        return write_record(check, error);
}
