/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/health-request.h"
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/value/go-duration.h"

void health_request_init(HealthRequest *request) {
        const HealthCheck check = { .interval = HEALTH_SPAN_DEFAULT, .timeout = HEALTH_SPAN_DEFAULT };

        *request = (HealthRequest) {
                .regular = check,
                .startup = check,
                .max_log_count = HEALTH_LOG_COUNT_DEFAULT,
                .max_log_size = HEALTH_LOG_SIZE_DEFAULT,
        };
        request->regular.retries = HEALTH_RETRIES_DEFAULT;
}

bool health_interval_parse(const char *text, guint64 *ret_usec, GError **error) {
        return go_duration_parse(g_str_equal(text, "disable") ? "0" : text, ret_usec, error);
}

bool health_timeout_parse(const char *text, guint64 *ret_usec, GError **error) {
        guint64 usec;

        if (!go_duration_parse(text, &usec, error))
                return false;
        if (usec == 0)
                return error_set(error, KT_ERROR_USAGE, "'%s': a check needs time to run", text);
        *ret_usec = usec;
        return true;
}

static bool parse_number(const char *text, guint min, guint *ret, GError **error) {
        guint64 number;

        if (!g_ascii_string_to_unsigned(text, 10, min, G_MAXINT32, &number, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no number from %u on", text, min);
        *ret = (guint) number;
        return true;
}

bool health_count_parse(const char *text, guint *ret, GError **error) {
        return parse_number(text, 0, ret, error);
}

bool health_retries_parse(const char *text, guint *ret, GError **error) {
        return parse_number(text, 1, ret, error);
}

static const char *const actions[] = {
        [HEALTH_NOTHING] = "none",
        [HEALTH_KILL] = "kill",
        [HEALTH_RESTART] = "restart",
        [HEALTH_STOP] = "stop",
};

bool health_action_parse(const char *text, HealthAction *ret, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
                if (g_str_equal(text, actions[i])) {
                        *ret = (HealthAction) i;
                        return true;
                }
        return error_set(error, KT_ERROR_USAGE, "there is no action '%s': use none, kill, restart or stop", text);
}

bool health_log_parse(const char *text, HealthLog *ret, const char **ret_directory, GError **error) {
        *ret_directory = NULL;
        if (g_str_equal(text, "local"))
                *ret = HEALTH_LOG_LOCAL;
        else if (g_str_equal(text, "events_logger"))
                *ret = HEALTH_LOG_JOURNAL;
        else if (path_value_check(text, NULL)) {
                *ret = HEALTH_LOG_FILE;
                *ret_directory = text;
        } else
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no place for results: use local, events_logger, or the absolute path of a "
                                 "directory",
                                 text);
        return true;
}
