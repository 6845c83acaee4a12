/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/relay-client/notify-filter.h"
#include "tests/fuzz/fuzz.h"

static void check_line(const char *line) {
        static const char *const allowed[] = {
                "READY",    "STATUS", "WATCHDOG", "WATCHDOG_USEC", "RELOADING", "MONOTONIC_USEC",
                "STOPPING", "ERRNO",  "BUSERROR", "VARLINKERROR",  NULL,
        };
        g_autofree char *name = g_strndup(line, strcspn(line, "="));

        require(line[strlen(name)] == '=' && g_strv_contains(allowed, name), "a payload says '%s'", line);
        for (const char *c = line; *c; c = g_utf8_next_char(c))
                require(!g_unichar_iscntrl(g_utf8_get_char(c)), "a control character in '%s'", line);
}

/* What systemd hears of a message is a few assignments, as text, and the same when it is looked at again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char told[NOTIFY_MESSAGE_MAX], again[NOTIFY_MESSAGE_MAX];
        size_t n = MIN(size, sizeof told), length;
        const char *refused = NULL;

        length = notify_filter((const char *) data, n, told, &refused);
        require(length <= n, "%zu bytes became %zu", n, length);
        require(g_utf8_validate(told, (gssize) length, NULL), "what is told is not UTF-8");
        require(!refused || memmem(data, n, refused, strlen(refused)), "'%s' is refused, which nobody said", refused);
        (void) notify_filter_is_barrier((const char *) data, n);
        g_autofree char *text = g_strndup(told, length);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (**line)
                        check_line(*line);
        require(notify_filter(told, length, again, &refused) == length && memcmp(told, again, length) == 0 &&
                        !refused,
                "'%s' becomes something else", text);
        return 0;
}
