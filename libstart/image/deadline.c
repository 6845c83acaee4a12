/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/image/deadline.h"

#define ASK_SECONDS 60
#define STALL_SECONDS (2 * 60)
#define COPY_SECONDS (4 * 60 * 60)

#define BYTES_MIN (64 << 10)

static guint find_seconds(const char *variable, guint otherwise) {
        guint64 seconds;
        const char *text = g_getenv(variable);

        return text && g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT32, &seconds, NULL) ? (guint) seconds :
                                                                                             otherwise;
}

guint deadline_ask(void) {
        return find_seconds("KEYTURN_ASK_SEC", ASK_SECONDS);
}

static guint64 find_number(const char *text, const char *name) {
        const char *line = strstr(text, name);

        return line ? g_ascii_strtoull(line + strlen(name), NULL, 10) : 0;
}

/* A kernel that does not count them makes of the time without progress the whole time. */
static guint64 count_bytes(GPid pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/io", (int) pid), *text = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        return find_number(text, "rchar: ") + find_number(text, "wchar: ");
}

void deadline_begin(Deadline *deadline, GPid pid) {
        gint64 now = g_get_monotonic_time();

        *deadline = (Deadline) {
                .pid = pid,
                .stall = find_seconds("KEYTURN_STALL_SEC", STALL_SECONDS),
                .total = find_seconds("KEYTURN_COPY_SEC", COPY_SECONDS),
                .begin = now,
                .moved = now,
        };
}

char *deadline_check(Deadline *deadline) {
        gint64 now = g_get_monotonic_time();
        guint64 bytes = count_bytes(deadline->pid);

        if (bytes >= deadline->bytes + BYTES_MIN) {
                deadline->bytes = bytes;
                deadline->moved = now;
        }
        if (now - deadline->moved >= deadline->stall * G_USEC_PER_SEC)
                return g_strdup_printf("ended, as it did not get on for %u s", deadline->stall);
        if (now - deadline->begin >= deadline->total * G_USEC_PER_SEC)
                return g_strdup_printf("ended, as it was not ready after %u s", deadline->total);
        return NULL;
}
