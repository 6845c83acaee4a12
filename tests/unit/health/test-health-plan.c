/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/health/health-plan.h"
#include "tests/unit/base/expect-error.h"

static char *well[] = { (char *) "/bin/well", (char *) "a b", NULL };

static void init_request(ContainerRequest *request) {
        *request = (ContainerRequest) { .name = "box" };
        health_request_init(&request->health);
}

static HealthPlan *make(const ContainerRequest *request, const ImageHealth *image) {
        g_autoptr(GError) error = NULL;
        HealthPlan *plan;

        ck_assert_msg(health_plan_make(request, image, &plan, &error), "%s", error ? error->message : "");
        return plan;
}

START_TEST(test_nothing) {
        ContainerRequest request;

        init_request(&request);
        ck_assert_ptr_null(make(&request, NULL));
        request.health.off = true;
        ck_assert_ptr_null(make(&request, NULL));
        /* Podman takes that. */
        request.health.on_failure = HEALTH_KILL;
        ck_assert_ptr_null(make(&request, NULL));
}
END_TEST

START_TEST(test_needs) {
        ContainerRequest request;
        g_autoptr(GError) error = NULL;
        HealthPlan *plan;

        init_request(&request);
        request.health.on_failure = HEALTH_KILL;
        ck_assert(!health_plan_make(&request, NULL, &plan, &error));
        expect_error(error, KT_ERROR_USAGE, "--health-on-failure: there is no health check");
        g_clear_error(&error);
        request.notify = NOTIFY_HEALTHY;
        ck_assert(!health_plan_make(&request, NULL, &plan, &error));
        expect_error(error, KT_ERROR_USAGE, "--sdnotify=healthy");
        g_clear_error(&error);
        init_request(&request);
        request.health.startup.command = well;
        ck_assert(!health_plan_make(&request, NULL, &plan, &error));
        expect_error(error, KT_ERROR_USAGE, "--health-startup-cmd");
}
END_TEST

/* The image's is replaced as a whole, or taken as a whole. */
START_TEST(test_image) {
        char *test[] = { (char *) "CMD", (char *) "/bin/ill", (char *) "a b", NULL };
        const ImageHealth image = { .test = test, .interval = 5, .retries = 2, .start_period = 7 };
        ContainerRequest request;

        init_request(&request);
        request.health.regular.interval = 1;
        request.health.regular.retries = 9;
        request.health.start_period = 11;

        g_autoptr(HealthPlan) taken = make(&request, &image);
        ck_assert_str_eq(taken->regular.command[0], "/bin/ill");
        ck_assert_str_eq(taken->regular.command[1], "a b");
        ck_assert_ptr_null(taken->regular.command[2]);
        ck_assert_uint_eq(taken->regular.interval, G_USEC_PER_SEC); /* at least */
        ck_assert_uint_eq(taken->regular.timeout, HEALTH_SPAN_DEFAULT);
        ck_assert_uint_eq(taken->regular.retries, 2);
        ck_assert_uint_eq(taken->start_period, 7);
        ck_assert_int_eq(taken->timer, HEALTH_TIMER_TRANSIENT);

        request.health.regular.command = well;
        g_autoptr(HealthPlan) replaced = make(&request, &image);
        ck_assert_str_eq(replaced->regular.command[0], "/bin/well");
        ck_assert_uint_eq(replaced->regular.interval, 1);
        ck_assert_uint_eq(replaced->regular.retries, 9);
        ck_assert_uint_eq(replaced->start_period, 11);
        ck_assert_int_eq(replaced->timer, HEALTH_TIMER_UNIT);

        request.health.regular.command = NULL;
        request.health.off = true;
        ck_assert_ptr_null(make(&request, &image));
}
END_TEST

START_TEST(test_image_forms) {
        static const struct {
                const char *test[4];
                const char *expected; /* NULL: nothing to run */
        } forms[] = {
                { { "NONE", NULL }, NULL },
                { { NULL }, NULL },
                { { "", NULL }, NULL },
                { { "CMD", NULL }, NULL },
                { { "CMD-SHELL", NULL }, NULL },
                { { "CMD-SHELL", "a || b", NULL }, "/bin/sh -c a || b" },
                { { "CMD", "/x", "y", NULL }, "/x y" },
                { { "/x", "y", NULL }, "/x y" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
                const ImageHealth image = { .test = (char **) forms[i].test };
                ContainerRequest request;

                init_request(&request);
                g_autoptr(HealthPlan) plan = make(&request, &image);
                g_autofree char *text = plan ? g_strjoinv(" ", plan->regular.command) : NULL;
                ck_assert_pstr_eq(text, forms[i].expected);
        }
}
END_TEST

START_TEST(test_written) {
        char *words[] = { (char *) "a", (char *) "", (char *) "b\nc", (char *) " \u00e4\\", NULL };
        char *startup[] = { (char *) "/bin/sh", (char *) "-c", (char *) "x\ny", NULL };
        ContainerRequest request;
        g_autoptr(GError) error = NULL;

        init_request(&request);
        request.health.regular.command = words;
        request.health.regular.interval = G_MAXUINT64;
        request.health.startup.command = startup;
        request.health.startup.successes = 4;
        request.health.on_failure = HEALTH_STOP;
        request.health.log = HEALTH_LOG_FILE;
        request.health.log_directory = "/var/log/two words\n";
        request.health.max_log_size = 1;
        request.notify = NOTIFY_HEALTHY;
        g_autoptr(HealthPlan) plan = make(&request, NULL);
        plan->started = 77;
        plan->filters = 5;
        g_autofree char *text = health_plan_print(plan);
        g_autoptr(HealthPlan) read = health_plan_parse(text, &error);
        ck_assert_msg(read, "%s: %s", text, error ? error->message : "");
        g_autofree char *again = health_plan_print(read);
        ck_assert_str_eq(again, text);
        ck_assert_uint_eq(g_strv_length(read->regular.command), 4);
        ck_assert_str_eq(read->regular.command[2], "b\nc");
        ck_assert_str_eq(read->startup.command[2], "x\ny");
        ck_assert_int_eq(read->on_failure, HEALTH_STOP);
        ck_assert(read->notify);
        ck_assert_uint_eq(read->started, 77);
        ck_assert_uint_eq(read->filters, 5);
}
END_TEST

START_TEST(test_not_written) {
        static const char *const texts[] = { "",
                                             "name x\n",
                                             "command x\n",
                                             "name x\ncommand y\nwhat 1\n",
                                             "name x\ncommand y\\\n",
                                             "name x\ncommand y\nruntime a\nruntime b\n",
                                             "name x\ncommand y\nretries -1\n",
                                             "name x\ncommand y\non-failure 4\n",
                                             "name\n" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(GError) error = NULL;

                ck_assert_ptr_null(health_plan_parse(texts[i], &error));
                ck_assert_ptr_nonnull(error);
        }
}
END_TEST

START_TEST(test_salvage) {
        g_autoptr(GError) damage = NULL, none = NULL;
        g_autoptr(HealthPlan) plan = health_plan_salvage("name x\nwhat 1\nnotify 1\non-failure 4\n", &damage),
                              whole = health_plan_salvage("name x\ncommand y\nretries 7\n", &none);

        ck_assert_str_eq(damage->message, "it has a line 'what' that means nothing");
        ck_assert(plan->notify && plan->regular.retries == 3 && plan->on_failure == HEALTH_NOTHING);
        ck_assert(!none && whole->regular.retries == 7);
        g_clear_error(&damage);
        ck_assert_ptr_null(health_plan_salvage("command y\n", &damage));
        ck_assert_str_eq(damage->message, "it is not complete");
}
END_TEST

TEST_MAIN("health-plan", {
        tcase_add_test(tcase, test_nothing);
        tcase_add_test(tcase, test_needs);
        tcase_add_test(tcase, test_image);
        tcase_add_test(tcase, test_image_forms);
        tcase_add_test(tcase, test_written);
        tcase_add_test(tcase, test_not_written);
        tcase_add_test(tcase, test_salvage);
})
