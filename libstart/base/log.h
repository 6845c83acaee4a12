/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <syslog.h>

/* One logging API, its backends chosen once in main(). A message is a line, with nothing that a terminal or the
 * journal would take for more than text (printable.h), and cut at 2 KiB.
 *
 * LOG_TO_STDERR  lines on standard error; where that is the journal ($JOURNAL_STREAM) each begins with the
 *                "<priority>" prefix that the journal understands, else with the program's name and, for
 *                people, the word error or warning: "libstart: error: MESSAGE"
 * LOG_TO_KMSG    "<priority>name[pid]: " lines on /dev/kmsg: the only log there is while generators run
 *                (systemd.generator(7)); dropped silently where /dev/kmsg cannot be written */
typedef enum LogTargets {
        LOG_TO_STDERR = 1 << 0,
        LOG_TO_KMSG = 1 << 1,
} LogTargets;

/* program: not copied, must stay valid. max_priority: LOG_DEBUG logs everything, LOG_INFO all but debug. */
void log_open(const char *program, LogTargets targets, int max_priority);

/* Standard error becomes the payload's; ours goes on to `fd`, which must stay open. */
void log_redirect(int fd);

/* Lines that belong to the message before, to standard error as they are: of our own making, with nothing in them
 * that others chose. */
void log_lines(const char *lines);

void log_message(int priority, const char *format, ...) G_GNUC_PRINTF(2, 3);

#define log_error(...) log_message(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_message(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)
