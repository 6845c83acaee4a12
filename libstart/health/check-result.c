/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/journal-message.h"
#include "libstart/base/log.h"
#include "libstart/base/printable.h"
#include "libstart/base/user-view.h"
#include "libstart/health/check-result.h"

static char *format_time(GDateTime *time) {
        return g_date_time_format(time, "%FT%T.%fZ");
}

HealthResult *check_result_make(const ProbeResult *result, GDateTime *begin) {
        g_autoptr(GDateTime) end = g_date_time_new_now_utc();
        HealthResult *made = g_new0(HealthResult, 1);

        made->start = format_time(begin);
        made->end = format_time(end);
        made->exit_code = result->timed_out ? -1 : result->exit_status;
        made->output = g_utf8_make_valid(result->output, -1);
        return made;
}

char *check_result_describe(const HealthResult *result) {
        g_autofree char *shown = printable(g_strchomp(g_strdup(result->output)));
        const char *colon = *shown ? ": " : "";

        if (result->exit_code < 0)
                return g_strdup_printf("it took too long, and was killed%s%s", colon, shown);
        return g_strdup_printf("exit status %" G_GINT64_FORMAT "%s%s", result->exit_code, colon, shown);
}

static const char *find_message_id(guint consequences, const HealthResult *result) {
        return consequences & HEALTH_CHANGED ? MESSAGE_ID_HEALTH_CHANGED :
               result->exit_code != 0        ? MESSAGE_ID_HEALTH_FAILED :
                                               MESSAGE_ID_HEALTH_SUCCEEDED;
}

static char *find_message(const char *unit, const HealthPlan *plan, const HealthState *state,
                          const HealthResult *result, bool is_startup, guint consequences) {
        g_autofree char *said = check_result_describe(result);
        const char *check = is_startup ? "startup check" : "health check";

        if (result->exit_code == 0)
                return consequences & HEALTH_CHANGED ? g_strdup_printf("%s is healthy", unit) :
                                                       g_strdup_printf("The %s of %s has succeeded", check, unit);
        if (consequences & HEALTH_CHANGED)
                return g_strdup_printf("%s is %s: of its health checks, %u failed in a row; the last one: %s", unit,
                                       health_status_print(state->status), state->failing_streak, said);
        return g_strdup_printf("The %s of %s has failed: %s", check, unit, said);
}

void check_result_log(const char *unit, const HealthPlan *plan, const HealthState *state, const HealthResult *result,
                      bool is_startup, guint consequences) {
        bool failed = result->exit_code != 0;
        int priority = failed ? LOG_WARNING : LOG_NOTICE;
        g_autofree char *message = NULL, *fields = NULL;
        g_autoptr(GError) error = NULL;

        if (!failed && !(consequences & HEALTH_CHANGED) && plan->log != HEALTH_LOG_JOURNAL)
                return;
        message = find_message(unit, plan, state, result, is_startup, consequences);
        fields = g_strdup_printf("%s=%s.service\nCONTAINER_NAME=%s\nKEYTURN_HEALTH=%s\n"
                                 "KEYTURN_HEALTH_EXIT=%" G_GINT64_FORMAT "\n",
                                 user_view_is_entered() ? "USER_UNIT" : "OBJECT_SYSTEMD_UNIT", unit, plan->name,
                                 health_status_print(state->status), result->exit_code);
        if (!journal_message_send("keyturn", priority, find_message_id(consequences, result), message, fields,
                                  &error))
                log_message(priority, "%s", message);
}
