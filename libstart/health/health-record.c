/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/health/health-record.h"
#include "libstart/json/emit.h"
#include "libstart/json/walk.h"

#define DEPTH_MAX 16

static void result_free(void *data) {
        HealthResult *result = data;

        g_free(result->start);
        g_free(result->end);
        g_free(result->output);
        g_free(result);
}

HealthRecord *health_record_new(void) {
        HealthRecord *record = g_new0(HealthRecord, 1);

        record->log = g_ptr_array_new_with_free_func(result_free);
        return record;
}

void health_record_free(HealthRecord *record) {
        if (!record)
                return;
        g_ptr_array_unref(record->log);
        g_free(record);
}

/* Nobody needs more of one container, and each check reads and writes all of them. */
#define LOG_COUNT_MAX 1000

static gsize find_size(const HealthRecord *record) {
        gsize size = 0;

        for (guint i = 0; i < record->log->len; i++)
                size += strlen(((const HealthResult *) record->log->pdata[i])->output);
        return size;
}

void health_record_add(HealthRecord *record, HealthResult *result, guint max) {
        guint limit = max ? MIN(max, LOG_COUNT_MAX) : LOG_COUNT_MAX;

        g_ptr_array_add(record->log, result);
        if (record->log->len > limit)
                g_ptr_array_remove_range(record->log, 0, record->log->len - limit);
        while (find_size(record) > HEALTH_LOG_SIZE_MAX)
                g_ptr_array_remove_index(record->log, 0);
}

static void add_result(yajl_gen json, const HealthResult *result) {
        yajl_gen_map_open(json);
        json_emit_key_string(json, "Start", result->start);
        json_emit_key_string(json, "End", result->end);
        json_emit_key_number(json, "ExitCode", (guint64) result->exit_code);
        json_emit_key_string(json, "Output", result->output);
        yajl_gen_map_close(json);
}

char *health_record_print(const HealthRecord *record) {
        const HealthState *state = &record->state;
        yajl_gen json = json_emit_new(false);
        g_autofree char *text = NULL;

        yajl_gen_map_open(json);
        json_emit_key_string(json, "Status", health_status_print(state->status));
        json_emit_key_number(json, "FailingStreak", state->failing_streak);
        json_emit_key_bool(json, "StartupPassed", state->startup_passed);
        json_emit_key_number(json, "StartupSuccesses", state->startup_successes);
        json_emit_key_number(json, "StartupFailures", state->startup_failures);
        json_emit_key_bool(json, "ToldReady", state->told_ready);
        if (state->untimed)
                json_emit_key_bool(json, "Untimed", true);
        json_emit_string(json, "Log");
        yajl_gen_array_open(json);
        for (guint i = 0; i < record->log->len; i++)
                add_result(json, record->log->pdata[i]);
        yajl_gen_array_close(json);
        yajl_gen_map_close(json);
        text = json_emit_finish(json);
        return g_strconcat(text, "\n", NULL);
}

static bool read_integer(yajl_val value, void *number, GError **error) {
        if (!YAJL_IS_INTEGER(value))
                return error_set(error, KT_ERROR_FAILED, "no number");
        *(gint64 *) number = YAJL_GET_INTEGER(value);
        return true;
}

static bool read_count(yajl_val value, void *number, GError **error) {
        guint64 n;

        if (!json_get_number(value, G_MAXINT32, &n, error))
                return false;
        *(guint *) number = (guint) n;
        return true;
}

static bool read_flag(yajl_val value, void *flag, GError **error) {
        *(bool *) flag = YAJL_IS_TRUE(value);
        return *(bool *) flag || YAJL_IS_FALSE(value) || error_set(error, KT_ERROR_FAILED, "neither true nor false");
}

static bool read_status(yajl_val value, void *status, GError **error) {
        const char *text;

        return json_get_string(value, &text, error) &&
               (health_status_parse(text, status) ||
                error_set(error, KT_ERROR_FAILED, "there is no status '%s'", text));
}

static bool read_result(yajl_val value, void *log, GError **error) {
        static const JsonKey keys[] = {
                { "Start", json_copy_string, offsetof(HealthResult, start) },
                { "End", json_copy_string, offsetof(HealthResult, end) },
                { "ExitCode", read_integer, offsetof(HealthResult, exit_code) },
                { "Output", json_copy_string, offsetof(HealthResult, output) },
                { 0 },
        };
        HealthResult *result = g_new0(HealthResult, 1);

        g_ptr_array_add(*(GPtrArray **) log, result);
        return json_walk_object(value, keys, result, error) &&
               ((result->start && result->end && result->output) ||
                error_set(error, KT_ERROR_FAILED, "a result is not complete"));
}

HealthRecord *health_record_parse(const char *text, GError **error) {
        static const JsonKey keys[] = {
                { "Status", read_status, offsetof(HealthRecord, state.status) },
                { "FailingStreak", read_count, offsetof(HealthRecord, state.failing_streak) },
                { "StartupPassed", read_flag, offsetof(HealthRecord, state.startup_passed) },
                { "StartupSuccesses", read_count, offsetof(HealthRecord, state.startup_successes) },
                { "StartupFailures", read_count, offsetof(HealthRecord, state.startup_failures) },
                { "ToldReady", read_flag, offsetof(HealthRecord, state.told_ready) },
                { "Untimed", read_flag, offsetof(HealthRecord, state.untimed) },
                { "Log", NULL, offsetof(HealthRecord, log), read_result },
                { 0 },
        };
        g_autoptr(HealthRecord) record = health_record_new();
        g_auto(yajl_val) tree = json_parse(text, strlen(text), DEPTH_MAX, error);

        return tree && json_walk_object(tree, keys, record, error) ? g_steal_pointer(&record) : NULL;
}
