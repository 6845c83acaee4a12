/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/health/image-health.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/test-main.h"

static ImageHealth *parse(const char *json) {
        g_autoptr(GError) error = NULL;
        ImageHealth *health = image_health_parse(json, &error);

        ck_assert_msg(!error, "%s", error ? error->message : "");
        return health;
}

START_TEST(test_all) {
        g_autoptr(ImageHealth) health = parse("{\"config\":{\"Healthcheck\":{\"Test\":[\"CMD\",\"x\"],\"Interval\":"
                                              "5000000000,\"Timeout\":1,\"StartPeriod\":1500,\"Retries\":4}}}");

        ck_assert_str_eq(health->test[0], "CMD");
        ck_assert_str_eq(health->test[1], "x");
        ck_assert_ptr_null(health->test[2]);
        ck_assert_uint_eq(health->interval, 5000000);
        ck_assert_uint_eq(health->timeout, 1);
        ck_assert_uint_eq(health->start_period, 2);
        ck_assert_uint_eq(health->retries, 4);
}
END_TEST

START_TEST(test_less) {
        g_autoptr(ImageHealth) health = parse("{\"config\":{\"Healthcheck\":{\"Interval\":-5,\"Retries\":1e9}}}");

        ck_assert_ptr_null(health->test[0]);
        ck_assert_uint_eq(health->interval, 0);
        ck_assert_uint_eq(health->retries, 0);
        ck_assert_ptr_null(parse("{}"));
        ck_assert_ptr_null(parse("{\"config\":null}"));
        ck_assert_ptr_null(parse("{\"config\":{\"Healthcheck\":null}}"));
}
END_TEST

START_TEST(test_committed_from) {
        g_autoptr(ImageHealth) health = parse("{\"config\":{\"Healthcheck\":{\"Test\":[\"CMD\",\"x\"]}},"
                                              "\"container_config\":{\"Healthcheck\":{\"Test\":[\"NONE\"]}}}");

        ck_assert_str_eq(health->test[0], "NONE");
}
END_TEST

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(image_health_parse("{\"config\":{\"Healthcheck\":{\"Test\":[1]}}}", &error));
        expect_error(error, KT_ERROR_FAILED, "HEALTHCHECK");
}
END_TEST

TEST_MAIN("image-health", {
        tcase_add_test(tcase, test_all);
        tcase_add_test(tcase, test_less);
        tcase_add_test(tcase, test_committed_from);
        tcase_add_test(tcase, test_bad);
})
