/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/log.h"
#include "libstart/base/printable.h"

#define LINE_MAX_BYTES 2048

/* The logger is the one thing that is global outside a main file: every message must find it. */
static struct {
        const char *program;
        bool to_stderr;
        int stderr_fd;
        bool with_prefix;
        int max_priority;
        int kmsg_fd;
} logger = { .program = "keyturn",
             .to_stderr = true,
             .stderr_fd = STDERR_FILENO,
             .max_priority = LOG_INFO,
             .kmsg_fd = -1 };

void log_open(const char *program, LogTargets targets, int max_priority) {
        logger.program = program;
        logger.max_priority = max_priority;
        logger.to_stderr = targets & LOG_TO_STDERR;
        logger.with_prefix = getenv("JOURNAL_STREAM");
        if (targets & LOG_TO_KMSG && logger.kmsg_fd < 0)
                logger.kmsg_fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

void log_redirect(int fd) {
        logger.stderr_fd = fd;
}

/* One write(2) a line, so that lines of programs running at the same time do not mix. */
static void write_line(int fd, char *line, int length, size_t size) {
        if (length < 0)
                return;
        if ((size_t) length >= size)
                length = (int) size - 1;
        line[length] = '\n';
        (void) !write(fd, line, (size_t) length + 1);
}

void log_lines(const char *lines) {
        if (logger.to_stderr)
                (void) !write(logger.stderr_fd, lines, strlen(lines));
}

/* For people; the journal has the priority. */
static const char *name_severity(int priority) {
        return priority <= LOG_ERR ? "error: " : priority == LOG_WARNING ? "warning: " : "";
}

void log_message(int priority, const char *format, ...) {
        g_autofree char *text = NULL, *message = NULL;
        char line[2176];
        va_list ap;

        if (priority > logger.max_priority)
                return;

        va_start(ap, format);
        text = g_strdup_vprintf(format, ap);
        va_end(ap);
        message = printable(text);
        if (strlen(message) > LINE_MAX_BYTES)
                message[LINE_MAX_BYTES] = '\0';

        if (logger.kmsg_fd >= 0)
                write_line(logger.kmsg_fd, line,
                           snprintf(line, sizeof line, "<%d>%s[%d]: %s", priority, logger.program, (int) getpid(),
                                    message),
                           sizeof line);
        if (!logger.to_stderr)
                return;
        if (logger.with_prefix)
                write_line(logger.stderr_fd, line, snprintf(line, sizeof line, "<%d>%s", priority, message),
                           sizeof line);
        else
                write_line(logger.stderr_fd, line,
                           snprintf(line, sizeof line, "%s: %s%s", logger.program, name_severity(priority), message),
                           sizeof line);
}
