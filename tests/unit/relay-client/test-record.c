/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/relay-client/record.h"
#include "tests/unit/test-main.h"

#define NAMES "UNIT=a.service\nTAG=a\nJOURNAL=/j\n"

static RelayRecord example(void) {
        return (RelayRecord) {
                .unit = (char *) "back@up\\x2dcam.service",
                .tag = (char *) "rück=wärts kamera",
                .journal = (char *) "/run/systemd/journal.x/stdout",
                .payload = 4711,
                .uid = 0,
                .gid = G_MAXUINT32 - 1,
                .roles = 1U << RELAY_STDERR_PIPE | 1U << RELAY_STDERR_STREAM,
                .inodes = { 1, 0, G_MAXUINT64, 42 },
        };
}

START_TEST(test_round_trip) {
        RelayRecord record = example();
        g_autofree char *text = relay_record_format(&record, NULL);
        g_auto(RelayRecord) again = { 0 };

        ck_assert_ptr_nonnull(text);
        ck_assert(relay_record_parse(text, &again, NULL));
        ck_assert_str_eq(again.unit, record.unit);
        ck_assert_str_eq(again.tag, record.tag);
        ck_assert_str_eq(again.journal, record.journal);
        ck_assert_int_eq(again.payload, record.payload);
        ck_assert_uint_eq(again.uid, record.uid);
        ck_assert_uint_eq(again.gid, record.gid);
        ck_assert_uint_eq(again.roles, record.roles);
        ck_assert_mem_eq(again.inodes, record.inodes, sizeof record.inodes);
}
END_TEST

/* What lies in memory is overwritten in place when a connection is replaced. */
START_TEST(test_length_is_fixed) {
        RelayRecord record = example();
        g_autofree char *before = relay_record_format(&record, NULL);
        g_autofree char *after = NULL;

        memset(record.inodes, 0, sizeof record.inodes);
        after = relay_record_format(&record, NULL);
        ck_assert_uint_eq(strlen(before), strlen(after));
}
END_TEST

START_TEST(test_defaults_and_unknown_keys) {
        g_auto(RelayRecord) record = { 0 };

        ck_assert(relay_record_parse(NAMES "PID=1\nUSER=0 0\nCOLOUR=green\n", &record, NULL));
        ck_assert_uint_eq(record.roles, 0);
}
END_TEST

START_TEST(test_names_are_one_line) {
        RelayRecord record = example();
        g_autoptr(GError) error = NULL;

        record.tag = (char *) "a\nUNIT=other.service";
        ck_assert_ptr_null(relay_record_format(&record, &error));
        ck_assert_str_eq(error->message, "TAG has more than one line: 'a\nUNIT=other.service'");
}
END_TEST

static const struct {
        const char *text, *message;
} refused[] = {
        { "", "UNIT is missing" },
        { "UNIT=a.service\nJOURNAL=/j\nPID=1\n", "TAG is missing" },
        { "UNIT=a.service\nTAG=a\nPID=1\n", "JOURNAL is missing" },
        { NAMES, "PID is missing" },
        { NAMES "PID=0\n", "PID is missing" },
        { NAMES "PID=1\n", "USER is missing" },
        { NAMES "PID=1\nINODES=1 2\n", "INODES: 4 numbers expected in '1 2'" },
};

START_TEST(test_refused) {
        g_auto(RelayRecord) record = { 0 };
        g_autoptr(GError) error = NULL;

        ck_assert(!relay_record_parse(refused[_i].text, &record, &error));
        ck_assert_str_eq(error->message, refused[_i].message);
        ck_assert_ptr_null(record.unit);
}
END_TEST

static const char *const bad_numbers[] = { "PID=x",          "PID=-1", "PID=99999999999", "ROLES=16",
                                           "INODES=1 2 3 x", "USER=1", "USER=1 x",        "USER=1 -2" };

START_TEST(test_bad_numbers) {
        g_autofree char *text = g_strdup_printf("%s\n" NAMES "PID=1\n", bad_numbers[_i]);
        g_autofree char *key = g_strndup(bad_numbers[_i], strcspn(bad_numbers[_i], "="));
        g_auto(RelayRecord) record = { 0 };
        g_autoptr(GError) error = NULL;

        ck_assert(!relay_record_parse(text, &record, &error));
        ck_assert_msg(g_str_has_prefix(error->message, key), "%s", error->message);
}
END_TEST

TEST_MAIN("record", {
        tcase_add_test(tcase, test_round_trip);
        tcase_add_test(tcase, test_length_is_fixed);
        tcase_add_test(tcase, test_defaults_and_unknown_keys);
        tcase_add_test(tcase, test_names_are_one_line);
        tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(refused));
        tcase_add_loop_test(tcase, test_bad_numbers, 0, G_N_ELEMENTS(bad_numbers));
})
