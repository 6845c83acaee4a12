/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/ctl/update-unit.h"

#define INTERVAL (G_USEC_PER_SEC / 4)

/* What systemctl prints. Transfer full. */
static char *ask_systemctl(const char *const *words, GError **error) {
        g_autofree char *output = NULL, *messages = NULL;
        g_autoptr(GError) problem = NULL;
        int status;

        if (g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &messages, &status,
                         &problem) &&
            g_spawn_check_wait_status(status, &problem))
                return g_steal_pointer(&output);
        error_set(error, KT_ERROR_FAILED, "systemctl %s: %s", words[1],
                  messages && messages[0] ? g_strchomp(messages) : problem->message);
        return NULL;
}

/* Its first line says what is wrong, and the others what to look at. */
static bool cut_error(GError **error) {
        char *end = error && *error ? strchr((*error)->message, '\n') : NULL;

        if (end)
                *end = '\0';
        return false;
}

bool update_restart(const ContainerUnit *container, GError **error) {
        const char *const reset[] = { "systemctl", "reset-failed", container->unit, NULL }, *const restart[] = {
                "systemctl", "restart", container->unit, NULL
        };
        g_autofree char *ignored = ask_systemctl(reset, NULL), *output = ask_systemctl(restart, error);

        return output || cut_error(error);
}

static bool is_up(const ContainerUnit *container, GError **error) {
        const char *const show[] = {
                "systemctl",     "show", "--value", "--property=ActiveState", "--property=NRestarts",
                container->unit, NULL
        };
        g_autofree char *output = ask_systemctl(show, error);
        g_auto(GStrv) lines = output ? g_strsplit(output, "\n", -1) : NULL;
        bool is_active = false, is_first = true;

        /* In whatever order they come. */
        for (char **line = lines; line && *line; line++) {
                is_active |= g_str_equal(*line, "active") || g_str_equal(*line, "reloading");
                is_first &= !g_ascii_isdigit((*line)[0]) || g_str_equal(*line, "0");
        }
        return (is_active && is_first) ||
               (output && error_set(error, KT_ERROR_FAILED, "%s ends again; see journalctl -u %s", container->unit,
                                    container->unit));
}

static bool says_ready(const ContainerUnit *container) {
        return g_strcmp0(container->args->sdnotify, "container") == 0;
}

bool update_await(const GPtrArray *containers, int seconds, GError **error) {
        gint64 deadline = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;

        do {
                bool is_sure = true;

                for (guint i = 0; i < containers->len; i++) {
                        if (!is_up(containers->pdata[i], error))
                                return false;
                        is_sure &= says_ready(containers->pdata[i]);
                }
                if (is_sure)
                        return true;
                g_usleep(INTERVAL);
        } while (g_get_monotonic_time() < deadline);
        return true;
}
