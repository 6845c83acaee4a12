/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/health/health-log-file.h"
#include "libstart/health/health-start.h"
#include "libstart/systemd/systemd-call.h"

/* Atomically: the next check knows by the file whether it is still the same start. */
static bool write_file(const char *directory, const char *name, const char *text, int mode, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);

        return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, mode, error);
}

/* A command may have values of variables in it that are not for everybody's eyes, and so may what it prints. What is
 * upon this process is systemd's: the payload's own filter comes later. */
static bool write_plan(HealthPlan *plan, const char *directory, GError **error) {
        g_autoptr(HealthRecord) record = health_record_new();
        g_autofree char *shown = health_record_print(record), *text = NULL;
        g_autofree char *turn = g_build_filename(directory, HEALTH_TURN_LINK, NULL);
        struct timespec now;

        (void) unlink(turn); /* of a start that nobody cleared up */
        clock_gettime(CLOCK_BOOTTIME, &now);
        plan->started = (guint64) now.tv_sec * G_USEC_PER_SEC + (guint64) now.tv_nsec / 1000;
        if (!process_filters_count(&plan->filters, error))
                return false;
        text = health_plan_print(plan);
        return health_log_file_check(plan, error) && write_file(directory, HEALTH_RECORD_FILE, shown, 0600, error) &&
               write_file(directory, HEALTH_PLAN_FILE, text, 0600, error);
}

bool health_prepare(const ContainerRequest *request, const ImageHealth *image, const char *directory,
                    HealthPlan **ret, GError **error) {
        return health_plan_make(request, image, ret, error) && (!*ret || write_plan(*ret, directory, error));
}

/* The first check is run now, and starts the timer of those that follow. One may run already, and have found that
 * there is no container yet: that of a start before this one, as systemd restarts both at once. */
void health_start(const HealthPlan *plan, const char *unit) {
        g_autofree char *stem = g_strndup(unit, strlen(unit) - strlen(".service"));
        g_autofree char *service = g_strdup_printf(HEALTH_SERVICE, stem);
        g_autoptr(GError) error = NULL;

        if (plan->startup.command ? plan->startup.interval == 0 : plan->timer == HEALTH_TIMER_NONE)
                return; /* only when somebody asks for it */
        if (!systemd_call("RestartUnit", service, "fail", &error))
                log_warning("No health check is run, and the health will never be known: %s", error->message);
}
