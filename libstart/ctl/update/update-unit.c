/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/ctl/container/health.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/ctl/update/update-unit.h"
#include "libstart/oci/spec.h"

#define INTERVAL (G_USEC_PER_SEC / 4)
#define HEALTH_SECONDS_MAX 600 /* for a first result */

bool update_runs(const ContainerUnit *container) {
        return g_str_equal(container->active, "active") && container->pid > 0;
}

char *update_find_image(const ContainerUnit *container) {
        libcrun_container_t *config = payload_read_config(container, NULL);
        char *id = config ? g_strdup(payload_find_annotation(config, SPEC_IMAGE_ID)) : NULL;

        if (config)
                libcrun_container_free(config);
        return id;
}

/* That a program cannot be run for a moment, or not reach systemd, which executes itself anew, says nothing of an
 * image, which would be rolled back for it. */
#define TRIES_TO_RUN 4
#define TRIES_TO_REACH 20

/* `show` fails of nothing else. What is wrong comes last, whatever the unit's name is. */
static bool is_untried(const char *verb, const char *messages) {
        static const char *const texts[] = { "Connection ", "Transport endpoint is not connected",
                                             "disconnected from message bus" };
        const char *last = g_strrstr(messages, ": ");
        bool found = g_str_equal(verb, "show");

        for (size_t i = 0; last && g_str_equal(verb, "restart") && i < G_N_ELEMENTS(texts); i++)
                found |= strstr(last, texts[i]) != NULL;
        return found;
}

/* One try, of as many as it sets. The lines that systemctl prints; transfer full. */
static char **call_systemctl(const char *const *words, char **environment, int *ret_tries, GError **error) {
        g_autofree char *output = NULL, *messages = NULL;
        g_autoptr(GError) problem = NULL;
        int status;

        *ret_tries = TRIES_TO_RUN;
        if (!g_spawn_sync(NULL, (char **) words, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &messages,
                          &status, &problem))
                return error_null(error, KT_ERROR_UNTRIED, "%s", problem->message);
        *ret_tries = TRIES_TO_REACH;
        if (g_spawn_check_wait_status(status, &problem))
                return g_strsplit(output, "\n", -1);
        return error_null(error, is_untried(words[2], messages) ? KT_ERROR_UNTRIED : KT_ERROR_FAILED, "%s",
                          messages[0] ? g_strchomp(messages) : problem->message);
}

/* properties: for `show`, or NULL. */
static char **systemctl(const char *verb, const ContainerUnit *container, const char *properties, GError **error) {
        const char *const words[] = { "systemctl", user_view_is_here() ? "--user" : "--system",
                                      verb,        container->unit,
                                      properties,  NULL };
        g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LC_ALL", "C", TRUE);

        for (int i = 1;; i++, g_usleep(INTERVAL)) {
                GError *problem = NULL;
                int tries;
                char **lines = call_systemctl(words, environment, &tries, &problem);

                if (lines)
                        return lines;
                if (i < tries && g_error_matches(problem, KT_ERROR, KT_ERROR_UNTRIED)) {
                        g_error_free(problem);
                        continue;
                }
                g_propagate_prefixed_error(error, problem, "systemctl %s: ", verb);
                return NULL;
        }
}

/* Its first line says what is wrong, and the others what to look at. */
static bool cut_error(GError **error) {
        char *end = error && *error ? strchr((*error)->message, '\n') : NULL;

        if (end)
                *end = '\0';
        return false;
}

/* 0 where it is not there, or `lines` is NULL. */
static guint64 find_number(char **lines, const char *name) {
        size_t length = strlen(name);

        for (; lines && *lines; lines++)
                if (g_str_has_prefix(*lines, name) && (*lines)[length] == '=')
                        return g_ascii_strtoull(*lines + length + 1, NULL, 10);
        return 0;
}

static bool has_line(char **lines, const char *line) {
        return g_strv_contains((const char *const *) lines, line);
}

/* How often systemd has restarted it by itself, and whether it is up. */
static char **ask_state(const ContainerUnit *container, GError **error) {
        return systemctl("show", container, "--property=ActiveState,NRestarts", error);
}

/* In the service's own directory, which systemd removes when it ends: who stops it after a start means that. Transfer
 * full. */
static char *find_note(const ContainerUnit *container) {
        g_autofree char *directory = container_unit_state_dir(container);

        return g_build_filename(directory, ".restarting", NULL);
}

bool update_was_restarting(const ContainerUnit *container) {
        g_autofree char *note = find_note(container);

        return access(note, F_OK) == 0;
}

/* Between the two calls a service that had failed looks as if somebody had stopped it, and an update that is killed
 * there leaves it so. One that fails all the time may be started by systemd between them, which counts. */
static char **restart_anew(const ContainerUnit *container, GError **error) {
        g_auto(GStrv) state = ask_state(container, NULL), ignored = NULL;
        g_autofree char *directory = container_unit_state_dir(container), *note = find_note(container);
        g_autoptr(GError) problem = NULL;
        char **done;

        if (state && has_line(state, "ActiveState=failed") &&
            (!directory_make(directory, 0755, &problem) || !g_file_set_contents(note, "", 0, &problem)))
                log_warning("%s", problem->message);
        ignored = systemctl("reset-failed", container, NULL, NULL);
        done = systemctl("restart", container, NULL, error);
        if (done || !error || !g_error_matches(*error, KT_ERROR, KT_ERROR_UNTRIED))
                (void) unlink(note);
        return done;
}

bool update_restart(ContainerUnit *container, GError **error) {
        g_auto(GStrv) done = restart_anew(container, error), state = NULL;

        if (!done)
                return cut_error(error);
        state = ask_state(container, error);
        if (state)
                container->restarts = (guint32) find_number(state, "NRestarts");
        return state;
}

/* The process of a service that somebody stops ends after the service has left "active", else before. systemd forgets
 * all this of a service that nothing refers to. */
bool update_has_ended(const ContainerUnit *container, gint64 since) {
        g_auto(GStrv) lines = systemctl("show", container,
                                        "--property=Type,InactiveExitTimestampMonotonic,ActiveExitTimestampMonotonic,"
                                        "ExecMainExitTimestampMonotonic",
                                        NULL);
        guint64 begin = find_number(lines, "InactiveExitTimestampMonotonic"),
                left = find_number(lines, "ActiveExitTimestampMonotonic"),
                exited = find_number(lines, "ExecMainExitTimestampMonotonic");
        gint64 start = g_get_real_time() - g_get_monotonic_time() + (gint64) begin;

        return begin > 0 && begin <= exited && exited <= left && start >= since && !has_line(lines, "Type=oneshot");
}

static bool is_up(const ContainerUnit *container, GError **error) {
        g_auto(GStrv) state = ask_state(container, error);
        g_autofree char *logs = container_unit_print_logs(container);

        if (!state)
                return false;
        return ((has_line(state, "ActiveState=active") || has_line(state, "ActiveState=reloading")) &&
                find_number(state, "NRestarts") == container->restarts) ||
               error_set(error, KT_ERROR_FAILED, "%s ends again; see %s", container->unit, logs);
}

typedef enum Verdict {
        FAILED,
        WORKS,    /* it has said so, or its health checks have */
        CHECKED,  /* they will say so */
        PRESUMED, /* as long as it runs */
} Verdict;

static Verdict judge(const ContainerUnit *container, GError **error) {
        g_autofree char *health = NULL;
        g_autoptr(GError) unknown = NULL;

        if (!is_up(container, error))
                return FAILED;
        health = health_describe(container, &unknown);
        if (g_strcmp0(health, "unhealthy") == 0) {
                error_set(error, KT_ERROR_FAILED, "%s is not healthy; see keyturnctl health %s", container->unit,
                          container->unit);
                return FAILED;
        }
        if (health || unknown)
                return g_strcmp0(health, "healthy") == 0 ? WORKS : CHECKED;
        return g_strcmp0(container->args->sdnotify, "container") == 0 ? WORKS : PRESUMED;
}

bool update_await(const GPtrArray *containers, int seconds, GError **error) {
        gint64 begin = g_get_monotonic_time(), passed = 0;

        for (;; g_usleep(INTERVAL), passed = g_get_monotonic_time() - begin) {
                const ContainerUnit *awaited = NULL;
                bool is_over = passed >= seconds * G_USEC_PER_SEC;

                for (guint i = 0; i < containers->len; i++) {
                        Verdict verdict = judge(containers->pdata[i], error);

                        if (verdict == FAILED)
                                return false;
                        if (verdict == CHECKED || (verdict == PRESUMED && !is_over))
                                awaited = containers->pdata[i];
                }
                if (!awaited)
                        return true;
                if (passed >= MAX(seconds, HEALTH_SECONDS_MAX) * G_USEC_PER_SEC)
                        return error_set(error, KT_ERROR_FAILED, "%s is not healthy after %d s", awaited->unit,
                                         HEALTH_SECONDS_MAX);
        }
}
