/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/image/tool.h"

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

/* Line by line as they come. The last one is not logged: it may be the error. Transfer full. */
static char *pass_on(FILE *output, const char *what) {
        g_autofree char *last = NULL;
        char *line = NULL;
        size_t size = 0;

        while (getline(&line, &size, output) >= 0) {
                const char *text = clean_line(line);

                if (!text[0])
                        continue;
                if (last)
                        log_info("%s", last);
                g_free(last);
                last = g_utf8_make_valid(text, -1);
                sd_notifyf(0, "STATUS=%s: %s", what, last);
        }
        free(line);
        return g_steal_pointer(&last);
}

/* What is written to standard output is to be seen, too. */
static void join_output(void *data) {
        (void) dup2(STDERR_FILENO, STDOUT_FILENO);
}

static bool spawn(GPtrArray *words, GPid *ret_pid, int *ret_stderr, GError **error) {
        g_autoptr(GError) problem = NULL;

        g_ptr_array_add(words, NULL);
        return g_spawn_async_with_pipes(NULL, (char **) words->pdata, NULL,
                                        G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, join_output, NULL, ret_pid,
                                        NULL, NULL, ret_stderr, &problem) ||
               error_set(error, KT_ERROR_FAILED, "%s", problem->message);
}

bool tool_run(GPtrArray *words, const char *what, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_autofree char *last = NULL;
        FILE *output;
        GPid pid;
        int fd, status = 0;

        if (!spawn(words, &pid, &fd, error))
                return false;
        output = fdopen(fd, "r");
        last = pass_on(output, what);
        fclose(output);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                continue;
        if (g_spawn_check_wait_status(status, &problem)) {
                if (last)
                        log_info("%s", last);
                return true;
        }
        return error_set(error, KT_ERROR_FAILED, "%s: %s", (const char *) words->pdata[0], last ?: problem->message);
}

char *tool_read(GPtrArray *words, gsize *ret_length, GError **error) {
        g_autofree char *output = NULL, *messages = NULL;
        g_autoptr(GError) problem = NULL;
        int status;

        g_ptr_array_add(words, NULL);
        /* No text: a manifest is taken as it is. It ends where its first NUL is, which JSON does not have. */
        if (!g_spawn_sync(NULL, (char **) words->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &messages,
                          &status, &problem) ||
            !g_spawn_check_wait_status(status, &problem)) {
                char *line = messages ? strrchr(g_strchomp(messages), '\n') : NULL;

                error_set(error, KT_ERROR_FAILED, "%s: %s", (const char *) words->pdata[0],
                          messages && messages[0] ? clean_line(line ? line + 1 : messages) : problem->message);
                return NULL;
        }
        *ret_length = strlen(output);
        return g_steal_pointer(&output);
}
