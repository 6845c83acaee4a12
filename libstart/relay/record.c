/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/relay/record.h"

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

char *relay_record_format(const RelayRecord *record, GError **error) {
        g_autoptr(GString) text = g_string_new(NULL);

        if (!check_name("UNIT", record->unit, error) || !check_name("TAG", record->tag, error) ||
            !check_name("JOURNAL", record->journal, error))
                return NULL;
        g_string_append_printf(text, "UNIT=%s\nTAG=%s\nJOURNAL=%s\nPID=%d\nLEVEL_PREFIX=%d\nROLES=%u\n", record->unit,
                               record->tag, record->journal, (int) record->payload, record->level_prefix,
                               record->roles);
        if (record->has_user)
                g_string_append_printf(text, "USER=%u %u\n", record->uid, record->gid);
        g_string_append(text, "INODES=");
        for (guint i = 0; i < RELAY_ROLES; i++)
                g_string_append_printf(text, "%020" G_GUINT64_FORMAT "%c", record->inodes[i],
                                       i + 1 < RELAY_ROLES ? ' ' : '\n');
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool parse_number(const char *value, guint64 max, guint64 *ret, GError **error) {
        return g_ascii_string_to_unsigned(value, 10, 0, max, ret, error);
}

static bool set_string(char **string, const char *value) {
        g_free(*string);
        *string = g_strdup(value);
        return true;
}

static bool set_unit(RelayRecord *record, const char *value, GError **error) {
        return set_string(&record->unit, value);
}

static bool set_tag(RelayRecord *record, const char *value, GError **error) {
        return set_string(&record->tag, value);
}

static bool set_journal(RelayRecord *record, const char *value, GError **error) {
        return set_string(&record->journal, value);
}

static bool set_payload(RelayRecord *record, const char *value, GError **error) {
        guint64 number;

        if (!parse_number(value, INT_MAX, &number, error))
                return false;
        record->payload = (pid_t) number;
        return true;
}

static bool set_user(RelayRecord *record, const char *value, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, " ", -1);
        guint64 uid, gid;

        if (g_strv_length(words) != 2)
                return error_set(error, KT_ERROR_FAILED, "2 numbers expected in '%s'", value);
        if (!parse_number(words[0], G_MAXUINT32, &uid, error) || !parse_number(words[1], G_MAXUINT32, &gid, error))
                return false;
        record->has_user = true;
        record->uid = (uid_t) uid;
        record->gid = (gid_t) gid;
        return true;
}

static bool set_level_prefix(RelayRecord *record, const char *value, GError **error) {
        guint64 number;

        if (!parse_number(value, 1, &number, error))
                return false;
        record->level_prefix = number;
        return true;
}

static bool set_roles(RelayRecord *record, const char *value, GError **error) {
        guint64 number;

        if (!parse_number(value, (1U << RELAY_ROLES) - 1, &number, error))
                return false;
        record->roles = (guint) number;
        return true;
}

static bool set_inodes(RelayRecord *record, const char *value, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, " ", -1);

        if (g_strv_length(words) != RELAY_ROLES)
                return error_set(error, KT_ERROR_FAILED, "%d numbers expected in '%s'", RELAY_ROLES, value);
        for (guint i = 0; i < RELAY_ROLES; i++)
                if (!parse_number(words[i], G_MAXUINT64, &record->inodes[i], error))
                        return false;
        return true;
}

static const struct {
        const char *name;
        bool (*set)(RelayRecord *record, const char *value, GError **error);
} keys[] = {
        { "UNIT", set_unit },   { "TAG", set_tag },       { "JOURNAL", set_journal },
        { "PID", set_payload }, { "USER", set_user },     { "LEVEL_PREFIX", set_level_prefix },
        { "ROLES", set_roles }, { "INODES", set_inodes },
};

static bool parse_line(RelayRecord *record, char *line, GError **error) {
        char *value = strchr(line, '=');

        if (!value)
                return error_set(error, KT_ERROR_FAILED, "no '=' in '%s'", line);
        *value++ = '\0';
        for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
                if (g_str_equal(line, keys[i].name) && !keys[i].set(record, value, error)) {
                        g_prefix_error(error, "%s: ", line);
                        return false;
                }
        return true;
}

bool relay_record_parse(const char *text, RelayRecord *ret, GError **error) {
        g_auto(RelayRecord) record = { .level_prefix = true };
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (guint i = 0; lines[i]; i++)
                if (lines[i][0] != '\0' && !parse_line(&record, lines[i], error))
                        return false;
        if (!check_name("UNIT", record.unit, error) || !check_name("TAG", record.tag, error) ||
            !check_name("JOURNAL", record.journal, error))
                return false;
        if (record.payload <= 0)
                return error_set(error, KT_ERROR_FAILED, "PID is missing");
        *ret = record;
        record = (RelayRecord) { 0 };
        return true;
}
