/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "libstart/base/fd.h"
#include "libstart/health/check-timer.h"
#include "tests/unit/test-main.h"

/* A check that ends, of a container whose payload we are. */

static char *directory;
static Check *check;

static void setup(void) {
        g_autofree char *plan = NULL;

        directory = g_dir_make_tmp(NULL, NULL);
        plan = g_build_filename(directory, HEALTH_PLAN_FILE, NULL);
        ck_assert(g_file_set_contents(plan, "", 0, NULL));
        check = check_new("keyturn-test");
        check->path = g_strdup(directory);
        check->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check->plan_file = open(plan, O_RDONLY | O_CLOEXEC);
        check->plan = g_new0(HealthPlan, 1);
        check->plan->name = g_strdup("name");
        check->plan->notify = true;
        check->record = health_record_new();
        check->payload = (int) syscall(SYS_pidfd_open, getpid(), 0);
        check->begin = g_date_time_new_now_utc();
        check->result.output = "";
}

static void teardown(void) {
        static const char *const names[] = { HEALTH_PLAN_FILE, HEALTH_RECORD_FILE, "" };

        check_free(check);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(directory, names[i], NULL);

                (void) remove(path);
        }
}

/* From none on, open(2) fails, and poll(2), too. */
static void limit_descriptors(rlim_t n) {
        struct rlimit limit;

        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = n;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(test_there_is_none) {
        g_autoptr(Check) other = check_new("keyturn-no-such-container");
        g_autoptr(GError) error = NULL;

        ck_assert(!check_open(other, /* wait= */ false, &error));
        ck_assert_ptr_null(error);
        limit_descriptors(0);
        ck_assert(!check_open(other, /* wait= */ false, &error));
        limit_descriptors(1000);
        ck_assert_ptr_nonnull(error);
}
END_TEST

/* Who cannot be asked has not ended. */
START_TEST(test_is_over) {
        limit_descriptors(0);
        ck_assert(!check_is_over(check));
        limit_descriptors(1000);
        ck_assert(!check_is_over(check));
}
END_TEST

START_TEST(test_cannot_be_looked_at) {
        g_autoptr(GError) error = NULL;
        guint consequences;

        fd_close(&check->directory);
        ck_assert(!check_end(check, &consequences, &error));
        ck_assert_ptr_nonnull(error);
}
END_TEST

static void check_written(bool untimed, bool told_ready) {
        g_autofree char *path = g_build_filename(directory, HEALTH_RECORD_FILE, NULL), *text = NULL;
        g_autoptr(HealthRecord) record = NULL;

        ck_assert(g_file_get_contents(path, &text, NULL, NULL));
        record = health_record_parse(text, NULL);
        ck_assert_uint_eq(record->log->len, 1);
        ck_assert_int_eq(record->state.untimed, untimed);
        ck_assert_int_eq(record->state.told_ready, told_ready);
}

/* The next check counts as the first one, too, until all that follows from a first one is done. */
START_TEST(test_first) {
        g_autoptr(GError) error = NULL;
        guint consequences;

        ck_assert_int_eq(check_timer_turn(check), CHECK_FIRST);
        ck_assert(check_end(check, &consequences, &error));
        ck_assert(consequences & HEALTH_TELL_READY);
        check_written(/* untimed= */ true, /* told_ready= */ false);
        ck_assert_int_eq(check_timer_turn(check), CHECK_FIRST);
        ck_assert(check_settle(check, /* is_told= */ true, /* is_timed= */ false, &error));
        check_written(/* untimed= */ true, /* told_ready= */ true);
        ck_assert(check_settle(check, /* is_told= */ false, /* is_timed= */ true, &error));
        check_written(/* untimed= */ false, /* told_ready= */ true);
        ck_assert_int_eq(check_timer_turn(check), CHECK_OWN);
}
END_TEST

TEST_MAIN("check", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_there_is_none);
        tcase_add_test(tcase, test_is_over);
        tcase_add_test(tcase, test_cannot_be_looked_at);
        tcase_add_test(tcase, test_first);
})
