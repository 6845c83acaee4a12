/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/error.h"
#include "libstart/base/host-program.h"

/* In one line, for a status of systemd's. Transfer full; "" where there is nothing. */
static char *join_lines(const char *said) {
        g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
        g_autoptr(GString) all = g_string_new(NULL);

        for (char **line = lines; *line; line++)
                if (*g_strstrip(*line))
                        g_string_append_printf(all, "%s%s", all->len > 0 ? "; " : "", *line);
        return g_string_free(g_steal_pointer(&all), FALSE);
}

bool host_program_run(const char *const *words, const char *what, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_autofree char *said = NULL, *line = NULL;
        int status;

        if (g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said, &status,
                         &problem) &&
            g_spawn_check_wait_status(status, &problem)) {
                fputs(said, stderr);
                return true;
        }
        line = join_lines(said ?: "");
        return error_set(error, KT_ERROR_FAILED, "%s: %s", what ?: words[0], line[0] ? line : problem->message);
}
