/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/status.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/check/check-command.h"
#include "libstart/check/check-result.h"
#include "libstart/config/small-file.h"
#include "libstart/run/systemd-call.h"
#include "libstart/run/systemd-notify.h"

/* A check in its order: open_container(), look_at_payload(), run_once(), settle(). It is of one start of a container, and
 * says nothing about another: all its files are opened below the directory that it found first, which systemd removes at
 * the stop; the plan must still be the one that it read; the payload is held by a pidfd, and must live at the end. */

#define GROUP "keyturn-health"
#define OUTPUT_MAX 65536 /* also where no limit is asked for */

typedef struct Check {
        const char *unit; /* without ".service" */
        char *path;       /* the container's directory on /run */
        int directory;
        ino_t plan_inode;
        HealthPlan *plan;
        HealthRecord *record;
        Entry entry;
        char *cgroup;
        int payload; /* a pidfd */
        libcrun_container_t *container;
} Check;

static void check_clear(Check *check) {
        g_free(check->path);
        fd_closep(&check->directory);
        health_plan_free(check->plan);
        health_record_free(check->record);
        g_free(check->cgroup);
        fd_closep(&check->payload);
        if (check->container)
                libcrun_container_free(check->container);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Check, check_clear)

static bool take_crun_error(libcrun_error_t *err, GError **error) {
        (void) enter_fail(err, error);
        return false;
}

/*
 * What there is
 */

/* Of services that would be in the way of keyturn's own, "+" is in front (generator/names.c). */
static int open_state(const char *unit, char **ret_path) {
        static const char *const parents[] = { PATH_RUN "/+", PATH_RUN "/" };
        int fd = -1;

        for (size_t i = 0; fd < 0 && i < G_N_ELEMENTS(parents); i++) {
                g_free(*ret_path);
                *ret_path = g_strconcat(parents[i], unit, NULL);
                fd = open(*ret_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        return fd;
}

static char *read_at(int directory, const char *name, ino_t *ret_inode, GError **error) {
        _cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        char *text;

        if (fd < 0) {
                error_set_errno(error, errno, "Cannot open '%s'", name);
                return NULL;
        }
        if (!file_read_fd(fd, name, 64 * 1024 * 1024, &text, &st, error))
                return NULL;
        if (ret_inode)
                *ret_inode = st.st_ino;
        return text;
}

/* False without an error where there is no container, or none with a check. */
static bool open_container(Check *check, GError **error) {
        g_autofree char *plan = NULL, *record = NULL;
        g_autoptr(GError) missing = NULL;

        if (strchr(check->unit, '/'))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit", check->unit);
        check->directory = open_state(check->unit, &check->path);
        plan = check->directory < 0 ? NULL :
                                      read_at(check->directory, HEALTH_PLAN_FILE, &check->plan_inode, &missing);
        if (!plan) {
                if (missing && !g_error_matches(missing, KT_ERROR, KT_ERROR_NOT_FOUND))
                        g_propagate_error(error, g_steal_pointer(&missing));
                return false;
        }
        check->plan = health_plan_parse(plan, error);
        record = check->plan ? read_at(check->directory, HEALTH_RECORD_FILE, NULL, error) : NULL;
        check->record = record ? health_record_parse(record, error) : NULL;
        if (check->record)
                return true;
        g_prefix_error(error, "%s: ", check->path);
        return false;
}

static bool is_alive(const Check *check) {
        struct pollfd ask = { .fd = check->payload, .events = POLLIN };

        return poll(&ask, 1, 0) == 0;
}

/* The cgroup of the unit, in which the payload is, or below which (an init). systemd puts "_" before names that would
 * have a meaning for the kernel. */
static char *find_unit_cgroup(const Check *check) {
        g_autofree char *file = g_strdup_printf("/proc/%d/cgroup", (int) check->entry.payload), *text = NULL;
        g_autofree char *name = g_strconcat(check->unit, ".service", NULL);
        g_autoptr(GString) cgroup = g_string_new(NULL);
        g_auto(GStrv) parts = NULL;
        const char *begin;

        if (!g_file_get_contents(file, &text, NULL, NULL) || !(begin = strstr(text, "0::/")))
                return NULL;
        text[(size_t) (begin - text) + strcspn(begin, "\n")] = '\0';
        parts = g_strsplit(begin + strlen("0::/"), "/", -1);
        for (char **part = parts; *part; part++) {
                g_string_append_printf(cgroup, "/%s", *part);
                if (g_str_equal(*part, name) || (**part == '_' && g_str_equal(*part + 1, name)))
                        return g_strdup(cgroup->str);
        }
        return NULL;
}

/* Is it the process that libstart started, in the cgroup of that unit? False without an error where it has ended. */
static bool find_payload(Check *check, GError **error) {
        libcrun_container_status_t status = { 0 };
        libcrun_error_t err = NULL;
        g_autofree char *cgroup = NULL;
        int running;

        check->entry.root = check->path;
        check->entry.id = check->plan->name;
        if (libcrun_read_container_status(&status, check->path, check->plan->name, &err) < 0) {
                libcrun_error_release(&err);
                return false; /* not started yet, or not any more */
        }
        check->entry.payload = status.pid;
        check->payload = (int) syscall(SYS_pidfd_open, status.pid, 0);
        running = check->payload < 0 ? 0 : libcrun_is_container_running(&status, &err);
        libcrun_free_container_status(&status);
        if (running < 0)
                return take_crun_error(&err, error);
        cgroup = running > 0 ? find_unit_cgroup(check) : NULL;
        if (cgroup)
                check->cgroup = g_strconcat(cgroup, "/" GROUP, NULL);
        check->entry.cgroup = check->cgroup;
        return cgroup || (running > 0 && is_alive(check) &&
                          error_set(error, KT_ERROR_FAILED, "The payload is not in the control group of %s.service",
                                    check->unit));
}

static bool read_spec(Check *check, GError **error) {
        g_autofree char *config = g_build_filename(check->path, check->plan->name, "config.json", NULL);
        libcrun_error_t err = NULL;

        if (!enter_check_filter(&check->entry, error))
                return false;
        if (libcrun_ensure_cloned_binary(&err) < 0)
                return take_crun_error(&err, error);
        check->container = libcrun_container_load_from_file(config, &err);
        return check->container || take_crun_error(&err, error);
}

/*
 * What is left of it
 */

static bool is_current(const Check *check) {
        struct stat st;

        return is_alive(check) && fstatat(check->directory, HEALTH_PLAN_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               st.st_ino == check->plan_inode;
}

static bool write_record(const Check *check, GError **error) {
        static const char temporary[] = HEALTH_RECORD_FILE ".new";
        const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
        g_autofree char *text = health_record_print(check->record);
        _cleanup_close_ int fd = openat(check->directory, temporary, flags, 0644);

        if (fd >= 0 && fd_write_all(fd, text, strlen(text)) &&
            renameat(check->directory, temporary, check->directory, HEALTH_RECORD_FILE) == 0)
                return true;
        return error_set_errno(error, errno, "Cannot write '%s/" HEALTH_RECORD_FILE "'", check->path);
}

/* In the payload's name, which is the main process of its unit. */
static bool tell_ready(const Check *check, GError **error) {
        static const char ready[] = "READY=1";
        g_autoptr(Notify) notify = notify_open_path(PATH_NOTIFY, error);

        return notify && notify_send_as(notify, ready, strlen(ready), check->entry.payload, error);
}

/* Takes ownership of unit. */
static bool call(const char *method, char *unit, GError **error) {
        g_autofree char *owned = unit;

        return systemd_call(method, owned, error);
}

static bool run_program(const char *const *words, GError **error) {
        g_autoptr(GError) problem = NULL;
        int status;

        if (g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status,
                         &problem) &&
            g_spawn_check_wait_status(status, &problem))
                return true;
        return error_set(error, KT_ERROR_FAILED, "%s: %s", words[0], problem->message);
}

#define TRANSIENT_DIR "/run/systemd/transient/"
#define PATIENCE 50
#define PATIENCE_USEC 20000

/* A restart of the container restarts it, too, but the image may be another one. systemd forgets what has ended soon. */
static void remove_timer(const Check *check) {
        g_autofree char *timer = g_strdup_printf("keyturn-health@%s.timer", check->unit);
        g_autofree char *path = g_strconcat(TRANSIENT_DIR, timer, NULL);

        if (access(path, F_OK) < 0)
                return;
        (void) systemd_call("StopUnit", timer, NULL);
        for (int i = 0; i < PATIENCE && access(path, F_OK) == 0; i++)
                g_usleep(PATIENCE_USEC);
}

/* Of an image's check, whose interval nobody knew before the start. */
static bool make_timer(const Check *check, GError **error) {
        g_autofree char *unit = g_strdup_printf("--unit=" HEALTH_SERVICE, check->unit);
        g_autofree char *span = g_strdup_printf("--on-unit-inactive=%" G_GUINT64_FORMAT "us",
                                                check->plan->regular.interval);
        g_autofree char *description = g_strdup_printf("--description=Health Checks of %s", check->unit);
        g_autofree char *bound = g_strdup_printf("--timer-property=BindsTo=%s.service", check->unit);
        const char *const words[] = { "/usr/bin/systemd-run",
                                      "--quiet",
                                      "--collect",
                                      description,
                                      unit,
                                      span,
                                      bound,
                                      "--timer-property=AccuracySec=1ms",
                                      NULL };

        remove_timer(check);
        return run_program(words, error);
}

/* That of the check whose turn it is from now on. */
static bool start_timer(const Check *check, GError **error) {
        if (health_state_is_starting_up(&check->record->state, check->plan))
                return check->plan->startup.interval == 0 ||
                       call("StartUnit", g_strdup_printf(HEALTH_STARTUP_TIMER, check->unit), error);
        switch (check->plan->timer) {
        case HEALTH_TIMER_NONE:
                return true;
        case HEALTH_TIMER_UNIT:
                return call("StartUnit", g_strdup_printf(HEALTH_TIMER, check->unit), error);
        case HEALTH_TIMER_TRANSIENT:
                return make_timer(check, error);
        }
        g_return_val_if_reached(false);
}

/* A unit that waits for this check to succeed has no stop of its own to wait for, so nothing below can wait for us. */
static bool act(const Check *check, GError **error) {
        const char *const stop[] = { KEYTURN_BINDIR "/keyturnctl", "end-payload", check->unit, NULL };

        switch (check->plan->on_failure) {
        case HEALTH_NOTHING:
                return true;
        case HEALTH_KILL:
                return syscall(SYS_pidfd_send_signal, check->payload, SIGKILL, NULL, 0) == 0 || !is_alive(check) ||
                       error_set_errno(error, errno, "Cannot kill the payload");
        case HEALTH_RESTART:
                return call("RestartUnit", g_strdup_printf("%s.service", check->unit), error);
        case HEALTH_STOP:
                return run_program(stop, error);
        }
        g_return_val_if_reached(false);
}

/* All is tried; the first problem is said. */
static bool follow(const Check *check, guint consequences, bool is_first, GError **error) {
        GError **first = error;
        bool ok = true;

#define TRY(what) (ok = (what) && ok, first = ok ? error : NULL)
        if (consequences & HEALTH_TELL_READY)
                TRY(tell_ready(check, first));
        if (consequences & HEALTH_STARTUP_PASSED && !is_first && check->plan->startup.interval > 0)
                TRY(call("StopUnit", g_strdup_printf(HEALTH_STARTUP_TIMER, check->unit), first));
        if (consequences & HEALTH_STARTUP_PASSED || is_first)
                TRY(start_timer(check, first));
        if (consequences & HEALTH_STARTUP_FAILED) {
                log_warning("%s is restarted: its startup check has failed too often", check->unit);
                TRY(call("RestartUnit", g_strdup_printf("%s.service", check->unit), first));
        } else if (consequences & HEALTH_ACT)
                TRY(act(check, first));
#undef TRY
        return ok;
}

static bool is_in_start_period(const HealthPlan *plan) {
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (guint64) now.tv_sec * G_USEC_PER_SEC + (guint64) now.tv_nsec / 1000 <
               plan->started + plan->start_period;
}

/* Returns whether the next check is to be run at once: the first regular one. */
static bool run_once(Check *check, GError **error) {
        const HealthPlan *plan = check->plan;
        HealthState *state = &check->record->state;
        bool is_startup = health_state_is_starting_up(state, plan), in_start_period = is_in_start_period(plan);
        bool is_first = check->record->log->len == 0;
        g_autoptr(GError) untried = NULL;
        const HealthCheck *what = is_startup ? &plan->startup : &plan->regular;
        const Probe probe = { &check->entry, what->timeout,
                              plan->max_log_size ? MIN(plan->max_log_size, OUTPUT_MAX) : OUTPUT_MAX };
        EnterProcess *process = check->container->container_def->process;
        g_autoptr(GDateTime) begin = g_date_time_new_now_utc();
        ProbeResult result = { 0 };
        HealthResult *logged;
        guint consequences;

        process->args = what->command;
        process->args_len = g_strv_length(what->command);
        process->terminal = false;
        if (!probe_run(&probe, process, &result, &untried)) {
                g_string_assign(result.output, untried->message);
                result.exit_status = EXIT_KEYTURN;
        }
        process->args = NULL;
        process->args_len = 0;
        /* What was cut short by the container's end says nothing. */
        logged = is_current(check) ? check_result_make(&result, begin) : NULL;
        g_string_free(result.output, TRUE);
        if (!logged)
                return false;
        consequences = health_state_apply(state, plan, logged->exit_code == 0, in_start_period);
        state->told_ready |= (consequences & HEALTH_TELL_READY) != 0;
        health_record_add(check->record, logged, plan->max_log_count);
        if (!write_record(check, error))
                return false;
        check_result_log(check->unit, plan, state, logged, is_startup, consequences);
        return follow(check, consequences, is_first, error) && (consequences & HEALTH_STARTUP_PASSED);
}

bool check_command(const char *unit, GError **error) {
        g_auto(Check) check = { .unit = unit, .directory = -1, .payload = -1 };

        if (open_container(&check, error) && find_payload(&check, error) && read_spec(&check, error))
                while (run_once(&check, error))
                        ;
        return !*error;
}
