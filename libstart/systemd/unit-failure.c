/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/printable.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/systemd/systemd-notify.h"
#include "libstart/systemd/unit-failure.h"

/* systemd takes no message above 4 KiB. */
#define STATUS_MAX 2048

void unit_failure_tell(const GError *error) {
        g_autoptr(Notify) systemd = notify_open(NULL);
        g_autofree char *line = printable(error->message), *status = g_strconcat("STATUS=", line, NULL);

        if (strlen(status) > STATUS_MAX)
                *g_utf8_find_prev_char(status, status + STATUS_MAX) = '\0';
        (void) notify_send(systemd, status, NULL);
}

static char *find_own(const char *unit) {
        g_autofree char *result = systemd_unit_text(unit, SYSTEMD_SERVICE, "Result", NULL), *status = NULL;

        if (!result || g_str_equal(result, "success"))
                return NULL;
        status = systemd_unit_text(unit, SYSTEMD_SERVICE, "StatusText", NULL);
        return g_strdup_printf("%s: %s", unit, status && status[0] ? status : result);
}

char *unit_failure_find(const char *unit) {
        char *failure = find_own(unit);
        g_autoptr(GPtrArray) required = failure ? NULL : systemd_unit_list(unit, SYSTEMD_UNIT, "Requires", NULL);

        for (guint i = 0; required && !failure && i < required->len; i++)
                if (g_str_has_suffix(required->pdata[i], ".service"))
                        failure = find_own(required->pdata[i]);
        return failure;
}

void unit_failure_explain(const char *unit, GError **error) {
        g_autofree char *failure = unit_failure_find(unit);

        if (!failure || !error)
                return;
        g_free((*error)->message);
        (*error)->message = g_steal_pointer(&failure);
}
