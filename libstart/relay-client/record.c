/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/relay-client/record.h"

void relay_record_clear(RelayRecord *record) {
        g_clear_pointer(&record->unit, g_free);
        g_clear_pointer(&record->tag, g_free);
        g_clear_pointer(&record->journal, g_free);
}

static bool check_name(const char *key, const char *value, GError **error) {
        if (!value || value[0] == '\0')
                return error_set(error, KT_ERROR_FAILED, "%s is missing", key);
        if (strchr(value, '\n'))
                return error_set(error, KT_ERROR_FAILED, "%s has more than one line: '%s'", key, value);
        return true;
}

static bool check_names(const RelayRecord *record, GError **error) {
        return check_name("UNIT", record->unit, error) && check_name("TAG", record->tag, error) &&
               check_name("JOURNAL", record->journal, error);
}

char *relay_record_format(const RelayRecord *record, GError **error) {
        g_autoptr(GString) text = g_string_new(NULL);

        if (!check_names(record, error))
                return NULL;
        g_string_append_printf(text,
                               "UNIT=%s\nTAG=%s\nJOURNAL=%s\nPID=%d\nUSER=%u %u\nROLES=%u\nINODES=", record->unit,
                               record->tag, record->journal, (int) record->payload, record->uid, record->gid,
                               record->roles);
        for (guint i = 0; i < RELAY_ROLES; i++)
                g_string_append_printf(text, "%020" G_GUINT64_FORMAT "%c", record->inodes[i],
                                       i + 1 < RELAY_ROLES ? ' ' : '\n');
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static const char *find_value(char *const *lines, const char *key) {
        gsize length = strlen(key);

        for (; *lines; lines++)
                if (strncmp(*lines, key, length) == 0 && (*lines)[length] == '=')
                        return *lines + length + 1;
        return NULL;
}

/* Leaves them as they are where there is no such line. */
static bool parse_numbers(char *const *lines, const char *key, guint64 max, guint64 *numbers, guint n,
                          GError **error) {
        const char *value = find_value(lines, key);
        g_auto(GStrv) words = value ? g_strsplit(value, " ", -1) : NULL;

        if (!value)
                return true;
        if (g_strv_length(words) != n)
                return error_set(error, KT_ERROR_FAILED, "%s: %u numbers expected in '%s'", key, n, value);
        for (guint i = 0; i < n; i++)
                if (!g_ascii_string_to_unsigned(words[i], 10, 0, max, &numbers[i], error))
                        return error_prefix(error, "%s: ", key);
        return true;
}

/* Its numbers; the names it takes as they are. */
static bool parse_lines(char *const *lines, RelayRecord *record, GError **error) {
        guint64 payload = 0, user[2] = { 0 }, roles = 0;

        if (!parse_numbers(lines, "PID", INT_MAX, &payload, 1, error) ||
            !parse_numbers(lines, "USER", G_MAXUINT32, user, G_N_ELEMENTS(user), error) ||
            !parse_numbers(lines, "ROLES", (1U << RELAY_ROLES) - 1, &roles, 1, error) ||
            !parse_numbers(lines, "INODES", G_MAXUINT64, record->inodes, RELAY_ROLES, error))
                return false;
        record->unit = g_strdup(find_value(lines, "UNIT"));
        record->tag = g_strdup(find_value(lines, "TAG"));
        record->journal = g_strdup(find_value(lines, "JOURNAL"));
        record->payload = (pid_t) payload;
        record->uid = (uid_t) user[0];
        record->gid = (gid_t) user[1];
        record->roles = (guint) roles;
        return true;
}

bool relay_record_parse(const char *text, RelayRecord *ret, GError **error) {
        g_auto(RelayRecord) record = { 0 };
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        if (!parse_lines(lines, &record, error) || !check_names(&record, error))
                return false;
        if (record.payload <= 0 || !find_value(lines, "USER"))
                return error_set(error, KT_ERROR_FAILED, "%s is missing", record.payload <= 0 ? "PID" : "USER");
        *ret = record;
        record = (RelayRecord) { 0 };
        return true;
}

/*
 * Notifications
 */

#define NOTIFY_FIRST_KEY "NOTIFY="

void notify_record_clear(NotifyRecord *record) {
        g_clear_pointer(&record->address, g_free);
        g_clear_pointer(&record->unit, g_free);
}

char *notify_record_format(const NotifyRecord *record, GError **error) {
        if (!check_name("NOTIFY", record->address, error) || !check_name("UNIT", record->unit, error))
                return NULL;
        return g_strdup_printf(NOTIFY_FIRST_KEY "%s\nPID=%d\nUNIT=%s\n", record->address, (int) record->payload,
                               record->unit);
}

bool notify_record_is(const char *text) {
        return g_str_has_prefix(text, NOTIFY_FIRST_KEY);
}

bool notify_record_parse(const char *text, NotifyRecord *ret, GError **error) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        guint64 payload = 0;

        if (!parse_numbers(lines, "PID", INT_MAX, &payload, 1, error) ||
            !check_name("NOTIFY", find_value(lines, "NOTIFY"), error) ||
            !check_name("UNIT", find_value(lines, "UNIT"), error))
                return false;
        if (payload == 0)
                return error_set(error, KT_ERROR_FAILED, "PID is missing");
        *ret = (NotifyRecord) {
                .address = g_strdup(find_value(lines, "NOTIFY")),
                .payload = (pid_t) payload,
                .unit = g_strdup(find_value(lines, "UNIT")),
        };
        return true;
}
