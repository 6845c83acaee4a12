/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "tests/unit/ctl/print-command.h"

static const Options json = { .json = TRUE };

static void setup(void) {
        make_work();
        setenv("TZ", "UTC", 1);
}

#define RECORD(status, streak, log)                                                                              \
        "{\"Status\":\"" status "\",\"FailingStreak\":" streak ",\"StartupPassed\":true,\"StartupSuccesses\":0," \
        "\"StartupFailures\":0,\"ToldReady\":false,\"Log\":[" log "]}\n"

#define RESULT(end, code, output)                                                                                   \
        "{\"Start\":\"2026-01-02T03:04:05.5+01:00\",\"End\":\"" end "\",\"ExitCode\":" code ",\"Output\":\"" output \
        "\"}"

static GPtrArray *make_container(const char *record) {
        GPtrArray *all = new_containers();
        g_autofree char *words = g_strdup_printf("--name=web|--state-dir=%s|i", work);

        add_container(all, "w.service", words);
        if (record)
                write_file(".health.json", record);
        return all;
}

#define ROW(rest) "[{\"container\":\"web\",\"unit\":\"w.service\"," rest "}]"

static const struct {
        const char *record; /* NULL: none */
        int status;
        const char *json;
} records[] = {
        { NULL, 0, "[]" },
        { RECORD("starting", "0", ""), 1,
          ROW("\"health\":\"starting\",\"failed\":0,\"checked\":null,\"exit\":null,\"output\":null") },
        { RECORD("healthy", "0", RESULT("x", "1", "old") "," RESULT("x", "0", "a\\n\\n")), 0,
          ROW("\"health\":\"healthy\",\"failed\":0,\"checked\":\"2026-01-0202:04:05\",\"exit\":0,\"output\":\"a\"") },
        { RECORD("unhealthy", "2147483647", RESULT("x", "-9223372036854775807", "\\\"\\\\\\u001b[2J\\u202e")), 1,
          ROW("\"health\":\"unhealthy\",\"failed\":2147483647,\"checked\":\"2026-01-0202:04:05\","
              "\"exit\":-9223372036854775807,\"output\":\"\\\"\\\\\\u001B[2J\\u202e\"") },
};

START_TEST(test_all) {
        g_autoptr(GPtrArray) all = make_container(records[_i].record);
        g_autofree char *text = print_dense(command_health, all, NULL, records[_i].status);

        ck_assert_str_eq(text, records[_i].json);
}
END_TEST

static char *web[] = { (char *) "web", NULL };

/* What the file says, without what a terminal would take for more than text. */
START_TEST(test_one) {
        const char *record = RECORD("healthy", "0", RESULT("2026-01-02T03:04:05.75+01:00", "-1", "\xe2\x80\xae"));
        g_autoptr(GPtrArray) all = make_container(record);
        g_autofree char *text = print_command(command_health, all, &plain, web, 0),
                        *document = print_command(command_health, all, &json, web, 0);
        g_auto(GStrv) parts = g_strsplit(record, "\xe2\x80\xae", -1);
        g_autofree char *expected = g_strjoinv("\\u202e", parts);

        ck_assert_str_eq(document, expected);
        ck_assert_str_eq(text, "w.service: healthy, 0 failed in a row\n"
                               "CHECKED              MS     EXIT  OUTPUT\n"
                               "2026-01-02 02:04:05  250.0  -1    \\u202e\n");
}
END_TEST

START_TEST(test_unhealthy) {
        g_autoptr(GPtrArray) all = make_container(RECORD("unhealthy", "3", RESULT("never", "1", "a\\nb")));
        g_autofree char *text = print_command(command_health, all, &plain, web, 1);

        ck_assert_ptr_nonnull(strstr(text, "w.service: unhealthy, 3 failed in a row\n"));
        ck_assert_ptr_nonnull(strstr(text, "\n2026-01-02 02:04:05  0.0  1     a\\nb\n"));
}
END_TEST

static const struct {
        const char *record;
        const char *words[2];
        int code;
        const char *error;
} wrong[] = {
        { NULL, { "web" }, KT_ERROR_NOT_FOUND, "w.service has no health checks, or does not run" },
        { NULL, { "gone" }, KT_ERROR_NOT_FOUND, "There is no container 'gone'" },
        { "{\"Status\":", { "web" }, KT_ERROR_FAILED, "/.health.json: " },
        { "{\"Status\":\"fine\"}", { NULL }, KT_ERROR_FAILED, "there is no status 'fine'" },
        { "{\"Log\":[{}]}", { NULL }, KT_ERROR_FAILED, "a result is not complete" },
};

START_TEST(test_wrong) {
        g_autoptr(GPtrArray) all = make_container(wrong[_i].record);
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(command_health(all, &plain, (char **) wrong[_i].words, &error), -1);
        expect_error(error, wrong[_i].code, wrong[_i].error);
}
END_TEST

TEST_MAIN("ctl/container/health", {
        tcase_add_checked_fixture(tcase, setup, remove_work);
        tcase_add_loop_test(tcase, test_all, 0, G_N_ELEMENTS(records));
        tcase_add_test(tcase, test_one);
        tcase_add_test(tcase, test_unhealthy);
        tcase_add_loop_test(tcase, test_wrong, 0, G_N_ELEMENTS(wrong));
})
