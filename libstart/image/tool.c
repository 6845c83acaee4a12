/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/image/deadline.h"
#include "libstart/image/tool-words.h"
#include "libstart/image/tool.h"

#define END_SECONDS 10 /* what a program is given to end after SIGTERM */

bool tool_prepare(GError **error) {
        g_autofree char *uid = NULL, *gid = g_strdup_printf("%u", getgid());

        if (!user_view_is_entered())
                return true;
        uid = g_strdup_printf("%u", user_view_find_uid());
        g_setenv("_CONTAINERS_USERNS_CONFIGURED", "done", /* overwrite= */ true);
        g_setenv("_CONTAINERS_ROOTLESS_UID", uid, /* overwrite= */ true);
        g_setenv("_CONTAINERS_ROOTLESS_GID", gid, /* overwrite= */ true);
        return unshare(CLONE_NEWNS) == 0 || error_set_errno(error, errno, "Cannot make a mount namespace");
}

bool tool_is_there(const char *name) {
        g_autofree char *path = g_find_program_in_path(name);

        return path;
}

/* A line without its end, and without what the log's format of these programs has before the message. */
static char *clean_line(char *line) {
        char *message = strstr(line, " msg=\"");

        g_strchomp(line);
        if (!message || !g_str_has_prefix(line, "time="))
                return line;
        message += strlen(" msg=\"");
        if (g_str_has_suffix(message, "\""))
                message[strlen(message) - 1] = '\0';
        return message;
}

/* A program that runs. */
typedef struct Run {
        const char *what;
        GPid pid;
        int output;
        GString *text; /* of a line that has not ended */
        char *last;    /* line: it is not logged yet, as it may be the error */
        Deadline deadline;
        char *overdue;   /* why it is ended before its time; NULL: it is not */
        gint64 ended_at; /* then; monotonic time */
} Run;

static void run_clear(Run *run) {
        fd_closep(&run->output);
        g_string_free(run->text, TRUE);
        g_free(run->last);
        g_free(run->overdue);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static void take_line(Run *run, char *line) {
        const char *text = clean_line(line);

        if (!text[0])
                return;
        if (run->last)
                log_info("%s", run->last);
        g_free(run->last);
        run->last = g_utf8_make_valid(text, -1);
        sd_notifyf(0, "STATUS=%s: %s", run->what, run->last);
}

/* Line by line as they come, and the rest at the end, where it returns false. A program that nobody reads from would
 * wait for that in its next line, for ever. */
static bool pass_on(Run *run) {
        char buffer[4096], *end;
        ssize_t n = read(run->output, buffer, sizeof buffer);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return true;
        if (n < 0 && !run->overdue)
                run->overdue = g_strdup_printf("its output cannot be read: %s", error_describe(errno));
        if (n < 0)
                (void) kill(run->pid, SIGKILL);
        g_string_append_len(run->text, buffer, MAX(n, 0));
        while ((end = memchr(run->text->str, '\n', run->text->len)) || (n <= 0 && run->text->len > 0)) {
                gsize length = end ? (gsize) (end - run->text->str) : run->text->len;
                g_autofree char *line = g_strndup(run->text->str, length);

                g_string_erase(run->text, 0, (gssize) (end ? length + 1 : length));
                take_line(run, line);
        }
        return n > 0;
}

/* It can clean up after itself, but not for ever. Returns false where it is no longer waited for. */
static bool keep_deadline(Run *run) {
        if (!run->overdue) {
                run->overdue = deadline_check(&run->deadline);
                run->ended_at = g_get_monotonic_time();
                if (run->overdue)
                        (void) kill(run->pid, SIGTERM);
                return true;
        }
        if (g_get_monotonic_time() - run->ended_at < END_SECONDS * G_USEC_PER_SEC)
                return true;
        (void) kill(run->pid, SIGKILL);
        return false;
}

static void follow(Run *run, bool has_deadline) {
        struct pollfd output = { .fd = run->output, .events = POLLIN };
        bool goes_on = true;

        while (goes_on) {
                int n = poll(&output, 1, has_deadline ? 1000 : -1);

                goes_on = (n <= 0 || pass_on(run)) && (!has_deadline || keep_deadline(run));
        }
}

/* What is written to standard output is to be seen, too. It ends with us: who comes next does not have it beside. */
static void prepare_child(void *data) {
        (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void) dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* For a moment there may be no memory, process or descriptor left. */
#define SPAWNS_MAX 4
#define SPAWN_INTERVAL (G_USEC_PER_SEC / 4)

static bool spawn(GPtrArray *words, GPid *ret_pid, int *ret_stderr, GError **error) {
        g_autoptr(GError) problem = NULL;
        bool ok = false;

        g_ptr_array_add(words, NULL);
        for (int i = 0; !ok && i < SPAWNS_MAX && !g_error_matches(problem, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT); i++) {
                if (problem)
                        g_usleep(SPAWN_INTERVAL);
                g_clear_error(&problem);
                ok = g_spawn_async_with_pipes(NULL, (char **) words->pdata, NULL,
                                              G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, prepare_child, NULL,
                                              ret_pid, NULL, NULL, ret_stderr, &problem);
        }
        return ok || error_set(error, KT_ERROR_FAILED, "%s", problem ? problem->message : "it cannot be run");
}

bool tool_run(GPtrArray *words, const char *what, bool has_deadline, GError **error) {
        g_auto(Run) run = { .what = what, .output = -1, .text = g_string_new(NULL) };
        g_autoptr(GError) problem = NULL;
        int status = 0;

        if (!spawn(words, &run.pid, &run.output, error))
                return false;
        deadline_begin(&run.deadline, run.pid);
        follow(&run, has_deadline);
        if (process_wait(run.pid, &status, 0) < 0)
                return error_set_errno(error, errno, "Cannot wait for %s", (const char *) words->pdata[0]);
        if (!run.overdue && g_spawn_check_wait_status(status, &problem)) {
                if (run.last)
                        log_info("%s", run.last);
                return true;
        }
        return error_set(error, KT_ERROR_FAILED, "%s: %s", (const char *) words->pdata[0],
                         run.overdue      ?:
                                 run.last ?:
                                            problem->message);
}

/* Exit statuses of timeout(1), for a program that has ended at SIGTERM, and for another one. */
#define TIMEOUT_ENDED 124
#define TIMEOUT_KILLED 137

/* Why it failed. Transfer full. */
static char *find_reason(char *messages, const GError *problem, const char *seconds) {
        char *line = messages ? strrchr(g_strchomp(messages), '\n') : NULL;

        if (g_error_matches(problem, G_SPAWN_EXIT_ERROR, TIMEOUT_ENDED) ||
            g_error_matches(problem, G_SPAWN_EXIT_ERROR, TIMEOUT_KILLED))
                return g_strdup_printf("no answer within %s s", seconds);
        return g_strdup(messages && messages[0] ? clean_line(line ? line + 1 : messages) : problem->message);
}

char *tool_read(GPtrArray *words, GError **error) {
        g_autofree char *output = NULL, *messages = NULL, *seconds = g_strdup_printf("%u", deadline_ask());
        g_autoptr(GPtrArray) timed = tool_words("timeout", "--foreground", "--kill-after=10", seconds, NULL);
        g_autoptr(GError) problem = NULL;
        int status;

        for (guint i = 0; i < words->len; i++)
                g_ptr_array_add(timed, g_strdup(words->pdata[i]));
        g_ptr_array_add(timed, NULL);
        /* No text: a manifest is taken as it is. It ends where its first NUL is, which JSON does not have. */
        if (!g_spawn_sync(NULL, (char **) timed->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &messages,
                          &status, &problem) ||
            !g_spawn_check_wait_status(status, &problem)) {
                g_autofree char *reason = find_reason(messages, problem, seconds);

                return error_null(error, KT_ERROR_FAILED, "%s: %s", (const char *) words->pdata[0], reason);
        }
        return g_steal_pointer(&output);
}
