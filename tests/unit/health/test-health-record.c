/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/health/health-record.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/test-main.h"

static HealthResult *make_result(gint64 exit_code, const char *output) {
        HealthResult *result = g_new0(HealthResult, 1);

        result->start = g_strdup("2026-01-01T00:00:00.000001Z");
        result->end = g_strdup("2026-01-01T00:00:01.5Z");
        result->exit_code = exit_code;
        result->output = g_strdup(output);
        return result;
}

START_TEST(test_read_back) {
        g_autoptr(HealthRecord) record = health_record_new();
        g_autoptr(GError) error = NULL;

        record->state = (HealthState) { UNHEALTHY, 7, true, 2, 3, true, true };
        health_record_add(record, make_result(-1, "\"quoted\"\n\033[2J\342\202\254"), 0);
        health_record_add(record, make_result(0, ""), 0);
        g_autofree char *text = health_record_print(record);
        g_autoptr(HealthRecord) read = health_record_parse(text, &error);
        ck_assert_msg(read, "%s: %s", text, error ? error->message : "");
        g_autofree char *again = health_record_print(read);
        ck_assert_str_eq(again, text);
        ck_assert_uint_eq(read->log->len, 2);
        ck_assert_str_eq(((HealthResult *) read->log->pdata[0])->output, "\"quoted\"\n\033[2J\342\202\254");
}
END_TEST

START_TEST(test_new) {
        g_autoptr(HealthRecord) record = health_record_new();
        g_autofree char *text = health_record_print(record);

        ck_assert_str_eq(text, "{\"Status\":\"starting\",\"FailingStreak\":0,\"StartupPassed\":false,"
                               "\"StartupSuccesses\":0,\"StartupFailures\":0,\"ToldReady\":false,\"Log\":[]}\n");
}
END_TEST

/* The oldest go. */
START_TEST(test_limit) {
        g_autoptr(HealthRecord) record = health_record_new();

        for (int i = 0; i < 5; i++)
                health_record_add(record, make_result(i, ""), 2);
        ck_assert_uint_eq(record->log->len, 2);
        ck_assert_int_eq(((HealthResult *) record->log->pdata[0])->exit_code, 3);
        for (int i = 0; i < 2000; i++)
                health_record_add(record, make_result(i, ""), 0);
        ck_assert_uint_eq(record->log->len, 1000);
}
END_TEST

START_TEST(test_limit_of_size) {
        g_autoptr(HealthRecord) record = health_record_new();
        g_autofree char *output = g_strnfill(HEALTH_LOG_SIZE_MAX / 4, 'x');

        for (int i = 0; i < 7; i++)
                health_record_add(record, make_result(i, output), 0);
        ck_assert_uint_eq(record->log->len, 4);
        ck_assert_int_eq(((HealthResult *) record->log->pdata[0])->exit_code, 3);
}
END_TEST

START_TEST(test_bad) {
        static const char *const texts[] = {
                "",
                "[]",
                "{\"Status\":\"fine\"}",
                "{\"FailingStreak\":-1}",
                "{\"FailingStreak\":\"1\"}",
                "{\"ToldReady\":1}",
                "{\"Log\":{}}",
                "{\"Log\":[{}]}",
                "{\"Log\":[{\"Start\":\"\",\"End\":\"\",\"ExitCode\":\"0\",\"Output\":\"\"}]}",
                "{\"What\":1}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(GError) error = NULL;

                ck_assert_msg(!health_record_parse(texts[i], &error), "%s", texts[i]);
                ck_assert_ptr_nonnull(error);
        }
}
END_TEST

TEST_MAIN("health-record", {
        tcase_add_test(tcase, test_read_back);
        tcase_add_test(tcase, test_new);
        tcase_add_test(tcase, test_limit);
        tcase_add_test(tcase, test_limit_of_size);
        tcase_add_test(tcase, test_bad);
})
