/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/journal-message.h"

/* A value with line breaks has its length before it, as 64 bits of little endian. */
static void append_text(GString *entry, const char *field, const char *text) {
        guint64 length = GUINT64_TO_LE(strlen(text));

        if (!strchr(text, '\n')) {
                g_string_append_printf(entry, "%s=%s\n", field, text);
                return;
        }
        g_string_append_printf(entry, "%s\n", field);
        g_string_append_len(entry, (const char *) &length, sizeof length);
        g_string_append_printf(entry, "%s\n", text);
}

bool journal_message_send(const char *identifier, int priority, const char *message_id, const char *message,
                          const char *fields, GError **error) {
        static const struct sockaddr_un journal = { AF_UNIX, "/run/systemd/journal/socket" };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        g_autoptr(GString) entry = g_string_new(NULL);

        append_text(entry, "SYSLOG_IDENTIFIER", identifier);
        g_string_append_printf(entry, "PRIORITY=%d\nMESSAGE_ID=%s\n", priority, message_id);
        append_text(entry, "MESSAGE", message);
        g_string_append(entry, fields);
        /* Never wait for a journal that has fallen behind: a container is being started. */
        if (fd < 0 || sendto(fd, entry->str, entry->len, MSG_NOSIGNAL | MSG_DONTWAIT,
                             (const struct sockaddr *) &journal, sizeof journal) < 0)
                return error_set_errno(error, errno, "Cannot write to the journal");
        return true;
}
