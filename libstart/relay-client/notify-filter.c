/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "libstart/relay-client/notify-filter.h"

/* The threat: the payload, root in its container and hostile, writes every byte of these messages. systemd's first
 * process reads them, as the words of the service's main process, and does what they say. So a payload may say what
 * changes nothing but the state of its own service, which it may end, fail and restart as it likes in any case. It
 * may not
 *
 *   MAINPID=, MAINPIDFD=, MAINPIDFDID=  make another process the service's own: systemd would send the signals for
 *                                       the service to it
 *   EXTEND_TIMEOUT_USEC=                have others wait: a boot, a shutdown, who stops the service
 *   FDSTORE=, FDSTOREREMOVE=, FDNAME=   leave descriptors in the first process, which may sleep when it closes one
 *   NOTIFYACCESS=                       say who else may speak
 *   RESTART_RESET=                      undo what keeps it from being restarted without a pause (RestartSteps=)
 *
 * and whatever systemd may learn to understand one day. What it says is shown by systemctl, on somebody's terminal:
 * only text comes through, no bytes that a terminal obeys. systemd ends a line at a carriage return, too. Whatever is
 * not understood here is dropped, never passed on in part.
 *
 * Each rule writes the value as it may be told to `to`, not longer than it was, and returns its length, or -1 to drop
 * the assignment. */

typedef ssize_t (*Rule)(const char *value, size_t size, char *to);

static bool is(const char *value, size_t size, const char *expected) {
        return size == strlen(expected) && memcmp(value, expected, size) == 0;
}

static ssize_t copy(const char *value, size_t size, char *to) {
        memcpy(to, value, size);
        return (ssize_t) size;
}

static ssize_t rule_one(const char *value, size_t size, char *to) {
        return is(value, size, "1") ? copy(value, size, to) : -1;
}

/* "trigger": have itself killed as if it had not answered in time. */
static ssize_t rule_watchdog(const char *value, size_t size, char *to) {
        return is(value, size, "1") || is(value, size, "trigger") ? copy(value, size, to) : -1;
}

static bool parse_number(const char *value, size_t size, guint64 max) {
        char text[24];

        if (size == 0 || size >= sizeof text || memchr(value, '\0', size))
                return false;
        memcpy(text, value, size);
        text[size] = '\0';
        /* A vertical tab is no space to GLib, but it is to strtoull(3), which GLib calls. */
        return g_ascii_isdigit(text[0]) && g_ascii_string_to_unsigned(text, 10, 0, max, NULL, NULL);
}

static ssize_t rule_number(const char *value, size_t size, char *to) {
        return parse_number(value, size, G_MAXUINT64) ? copy(value, size, to) : -1;
}

#define ERRNO_MAX 4095 /* the kernel's */

static ssize_t rule_errno(const char *value, size_t size, char *to) {
        return parse_number(value, size, ERRNO_MAX) ? copy(value, size, to) : -1;
}

/* "org.freedesktop.DBus.Error.TimedOut" */
static ssize_t rule_error_name(const char *value, size_t size, char *to) {
        for (size_t i = 0; i < size; i++)
                if (!g_ascii_isalnum(value[i]) && !strchr("._-", value[i]))
                        return -1;
        return size <= 255 ? copy(value, size, to) : -1;
}

static bool is_text(gunichar c) {
        /* Of noncharacters systemd says, each time, that they are no UTF-8. */
        if ((c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE)
                return false;
        switch (g_unichar_type(c)) {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT: /* turns the direction of what follows, for one */
        case G_UNICODE_SURROGATE:
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
                return false;
        default:
                return true;
        }
}

/* A question mark for what is no text. (systemd would drop a text that is not UTF-8, and write a line about it.) */
static ssize_t rule_text(const char *value, size_t size, char *to) {
        char *begin = to;

        for (size_t i = 0; i < size;) {
                gunichar c = g_utf8_get_char_validated(value + i, (gssize) (size - i));
                bool valid = c != (gunichar) -1 && c != (gunichar) -2;
                size_t length = valid ? (size_t) g_utf8_skip[(guchar) value[i]] : 1;

                if (valid && is_text(c)) {
                        memcpy(to, value + i, length);
                        to += length;
                } else
                        *to++ = '?';
                i += length;
        }
        return to - begin;
}

static const struct {
        const char *name;
        Rule rule; /* NULL: refused, and complained of: a payload may need it that means well */
} assignments[] = {
        { "READY", rule_one },
        { "STATUS", rule_text },
        { "WATCHDOG", rule_watchdog },
        { "WATCHDOG_USEC", rule_number },
        { "RELOADING", rule_one },
        { "MONOTONIC_USEC", rule_number },
        { "STOPPING", rule_one },
        { "ERRNO", rule_errno },
        { "BUSERROR", rule_error_name },
        { "VARLINKERROR", rule_error_name },
        { "MAINPID", NULL },
        { "MAINPIDFD", NULL },
        { "EXTEND_TIMEOUT_USEC", NULL },
        { "FDSTORE", NULL },
        { "NOTIFYACCESS", NULL },
        { "RESTART_RESET", NULL },
};

/* Returns how much was written. */
static size_t filter_line(const char *line, size_t size, char *to, const char **ret_refused) {
        const char *equals = memchr(line, '=', size);
        size_t length = equals ? (size_t) (equals - line) : 0;
        ssize_t n;

        for (size_t i = 0; i < G_N_ELEMENTS(assignments); i++) {
                if (!is(line, length, assignments[i].name))
                        continue;
                if (!assignments[i].rule) {
                        *ret_refused = assignments[i].name;
                        return 0;
                }
                n = assignments[i].rule(equals + 1, size - length - 1, to + length + 1);
                if (n < 0)
                        return 0;
                memcpy(to, line, length + 1);
                return length + 1 + (size_t) n;
        }
        return 0;
}

static size_t without_final_nul(const char *message, size_t size) {
        return size > 0 && message[size - 1] == '\0' ? size - 1 : size;
}

static size_t line_length(const char *text, size_t size) {
        size_t n = 0;

        while (n < size && text[n] != '\n' && text[n] != '\r')
                n++;
        return n;
}

size_t notify_filter(const char *message, size_t size, char *ret, const char **ret_refused) {
        const char *refused = NULL;
        size_t length, written = 0;

        size = without_final_nul(message, size);
        if (size > NOTIFY_MESSAGE_MAX || memchr(message, '\0', size))
                size = 0; /* systemd refuses such a message, too */
        for (size_t i = 0; i < size; i += length + 1) {
                /* Between two lines there is a byte that ends one: there is room. */
                size_t before = written > 0 ? written + 1 : 0, n;

                length = line_length(message + i, size - i);
                n = filter_line(message + i, length, ret + before, &refused);
                if (n == 0)
                        continue;
                if (written > 0)
                        ret[written] = '\n';
                written = before + n;
        }
        if (ret_refused)
                *ret_refused = refused;
        return written;
}

bool notify_filter_says(const char *state, size_t size, const char *assignment) {
        size_t length = strlen(assignment);

        for (size_t i = 0; i + length <= size; i += line_length(state + i, size - i) + 1)
                if (memcmp(state + i, assignment, length) == 0)
                        return true;
        return false;
}

size_t notify_filter_settle(char *state, size_t size, bool *had_status) {
        static const char clear[] = "\nSTATUS=";
        bool ready = notify_filter_says(state, size, "READY=1");

        *had_status |= notify_filter_says(state, size, clear + 1);
        if (!ready || *had_status || size + sizeof clear - 1 > NOTIFY_MESSAGE_MAX)
                return size;
        *had_status = true;
        memcpy(state + size, clear, sizeof clear - 1);
        return size + sizeof clear - 1;
}

bool notify_filter_is_barrier(const char *message, size_t size) {
        size = without_final_nul(message, size);
        while (size > 0 && message[size - 1] == '\n')
                size--;
        return is(message, size, "BARRIER=1");
}
