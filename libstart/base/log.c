/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/printable.h"

#define LINE_MAX_BYTES 2048

/* The logger is the one thing that is global outside a main file: every message must find it. */
static struct {
        const char *program;
        int stderr_fd;    /* -1: nobody listens there */
        char journal[48]; /* DEVICE:INODE of its stream; "": systemd has given none. The environment may be wiped */
        int max_priority;
        int kmsg_fd;
} logger = { .program = "keyturn", .stderr_fd = STDERR_FILENO, .max_priority = LOG_INFO, .kmsg_fd = -1 };

void log_open(const char *program, LogTargets targets, int max_priority) {
        logger.program = program;
        logger.max_priority = max_priority;
        logger.stderr_fd = targets & LOG_TO_STDERR ? STDERR_FILENO : -1;
        g_strlcpy(logger.journal, getenv("JOURNAL_STREAM") ?: "", sizeof logger.journal);
        if (targets & LOG_TO_KMSG && logger.kmsg_fd < 0)
                logger.kmsg_fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

void log_redirect(int fd) {
        logger.stderr_fd = fd;
}

/* One write(2), so that lines of programs running at the same time do not mix; another where a signal has cut it. */
static void write_lines(int fd, const char *text) {
        if (fd >= 0)
                (void) fd_write_all(fd, text, strlen(text));
}

void log_lines(const char *lines) {
        write_lines(logger.stderr_fd, lines);
}

/* Below a service, standard error may be a file or another's pipe all the same. Asked for a message only: a start
 * that says nothing makes no system call for it. */
static bool is_journal(int fd) {
        g_autofree char *stream = NULL;
        struct stat st;

        if (!logger.journal[0] || fstat(fd, &st) < 0)
                return false;
        stream = g_strdup_printf("%ju:%ju", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
        return g_str_equal(stream, logger.journal);
}

/* For people; the journal has the priority. */
static const char *name_severity(int priority) {
        return priority <= LOG_ERR ? "error: " : priority == LOG_WARNING ? "warning: " : "";
}

void log_message(int priority, const char *format, ...) {
        g_autofree char *text = NULL, *message = NULL, *line = NULL;
        va_list ap;

        if (priority > logger.max_priority)
                return;

        va_start(ap, format);
        text = g_strdup_vprintf(format, ap);
        va_end(ap);
        message = printable(text);
        if (strlen(message) > LINE_MAX_BYTES)
                message[LINE_MAX_BYTES] = '\0';

        if (logger.kmsg_fd >= 0) {
                g_autofree char *entry = g_strdup_printf("<%d>%s[%d]: %s\n", priority, logger.program, (int) getpid(),
                                                         message);

                write_lines(logger.kmsg_fd, entry);
        }
        line = is_journal(logger.stderr_fd) ?
                       g_strdup_printf("<%d>%s\n", priority, message) :
                       g_strdup_printf("%s: %s%s\n", logger.program, name_severity(priority), message);
        write_lines(logger.stderr_fd, line);
}
