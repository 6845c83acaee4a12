/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/relay/notify-record.h"

#define FIRST_KEY "NOTIFY="

void notify_record_clear(NotifyRecord *record) {
        g_clear_pointer(&record->address, g_free);
        g_clear_pointer(&record->unit, g_free);
}

char *notify_record_format(const NotifyRecord *record, GError **error) {
        if (strchr(record->address, '\n') || strchr(record->unit, '\n')) {
                error_set(error, KT_ERROR_FAILED, "'%s' or '%s' has more than one line", record->address,
                          record->unit);
                return NULL;
        }
        return g_strdup_printf(FIRST_KEY "%s\nPID=%d\nUNIT=%s\n", record->address, (int) record->payload,
                               record->unit);
}

bool notify_record_is(const char *text) {
        return g_str_has_prefix(text, FIRST_KEY);
}

static const char *find_value(char *const *lines, const char *key) {
        for (; *lines; lines++)
                if (g_str_has_prefix(*lines, key) && (*lines)[strlen(key)] == '=')
                        return *lines + strlen(key) + 1;
        return "";
}

bool notify_record_parse(const char *text, NotifyRecord *ret, GError **error) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        guint64 pid;

        if (!g_ascii_string_to_unsigned(find_value(lines, "PID"), 10, 1, INT_MAX, &pid, error)) {
                g_prefix_error(error, "PID: ");
                return false;
        }
        *ret = (NotifyRecord) {
                .address = g_strdup(find_value(lines, "NOTIFY")),
                .payload = (pid_t) pid,
                .unit = g_strdup(find_value(lines, "UNIT")),
        };
        return true;
}
