/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/health/health-record.h"
#include "libstart/request/health-command.h"
#include "tests/fuzz/fuzz.h"

/* A plan is read back as it was written, whatever words the image or the file has. */
static void check_plan(char **command, const ImageHealth *image) {
        ContainerRequest request = { .name = "box" };
        g_autoptr(GError) error = NULL;
        HealthPlan *made = NULL;

        health_request_init(&request.health);
        request.health.regular.command = command;
        if (!health_plan_make(&request, image, &made, &error)) {
                require_error(made, error, "\xff");
                return;
        }
        if (!made)
                return;
        g_autoptr(HealthPlan) plan = made;
        g_autofree char *text = health_plan_print(plan);
        g_autoptr(HealthPlan) read = health_plan_parse(text, NULL);
        require(read, "a plan that is not read back: '%s'", text);
        g_autofree char *again = health_plan_print(read);
        require(strcmp(text, again) == 0, "another plan: '%s'", again);
        require(g_strv_length(plan->regular.command) == g_strv_length(read->regular.command), "another command");
}

/* A command as in a file, HEALTHCHECK of an image, and what is kept of a container's health. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(ImageHealth) image = image_health_parse(text, NULL);
        g_autoptr(HealthRecord) record = health_record_parse(text, &error);
        g_autoptr(GError) damage = NULL;
        g_autoptr(HealthPlan) plan = health_plan_parse(text, NULL), salvaged = health_plan_salvage(text, &damage);
        g_auto(GStrv) words = NULL;

        require(plan ? salvaged && !damage : damage != NULL, "a plan that is whole for one and not for the other");
        require_error(record, error, text);
        if (*text && health_command_parse(text, &words, NULL))
                check_plan(words, NULL);
        if (image)
                check_plan(NULL, image);
        if (record) {
                g_autofree char *printed = health_record_print(record);
                g_autoptr(HealthRecord) read = health_record_parse(printed, NULL);

                require(read && read->log->len == record->log->len, "a record that is not read back");
        }
        return 0;
}
