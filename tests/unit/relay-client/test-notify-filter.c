/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "libstart/relay-client/notify-filter.h"
#include "tests/unit/test-main.h"

#define BYTES(text) { text, sizeof text - 1 }

static const struct {
        struct {
                const char *text;
                size_t size;
        } said, heard;
        const char *refused;
} cases[] = {
        { BYTES(""), BYTES("") },
        { BYTES("READY=1"), BYTES("READY=1") },
        { BYTES("READY=1\n\n"), BYTES("READY=1") },
        { BYTES("READY=1\0"), BYTES("READY=1") },
        { BYTES("READY=1\nSTATUS=at work\nX_OWN=1\nUNKNOWN=1\nERRNO=2"), BYTES("READY=1\nSTATUS=at work\nERRNO=2") },
        { BYTES("READY=0"), BYTES("") },
        { BYTES("READY=11"), BYTES("") },
        { BYTES("READY"), BYTES("") },
        { BYTES(" READY=1"), BYTES("") },
        { BYTES("ready=1"), BYTES("") },
        { BYTES("=1\n=\n"), BYTES("") },
        { BYTES("RELOADING=1\nMONOTONIC_USEC=18446744073709551615"),
          BYTES("RELOADING=1\nMONOTONIC_USEC=18446744073709551615") },
        { BYTES("MONOTONIC_USEC=18446744073709551616\nSTOPPING=1"), BYTES("STOPPING=1") },
        { BYTES("MONOTONIC_USEC=-1"), BYTES("") },
        { BYTES("MONOTONIC_USEC= 1"), BYTES("") },
        { BYTES("MONOTONIC_USEC="), BYTES("") },
        { BYTES("WATCHDOG=1\nWATCHDOG_USEC=0"), BYTES("WATCHDOG=1\nWATCHDOG_USEC=0") },
        { BYTES("WATCHDOG=trigger"), BYTES("WATCHDOG=trigger") },
        { BYTES("WATCHDOG=2"), BYTES("") },
        { BYTES("ERRNO=4095"), BYTES("ERRNO=4095") },
        { BYTES("ERRNO=4096"), BYTES("") },
        { BYTES("ERRNO=EINVAL"), BYTES("") },
        { BYTES("BUSERROR=org.x.A_b-1\nVARLINKERROR=a.b"), BYTES("BUSERROR=org.x.A_b-1\nVARLINKERROR=a.b") },
        { BYTES("BUSERROR=a b"), BYTES("") },
        { BYTES("BUSERROR="), BYTES("BUSERROR=") },
        { BYTES("STATUS="), BYTES("STATUS=") },
        /* Text only, as long as it was at the most. */
        { BYTES("STATUS=grün \xe2\x9c\x93 \xf0\x9f\x9a\x97"), BYTES("STATUS=grün \xe2\x9c\x93 \xf0\x9f\x9a\x97") },
        { BYTES("STATUS=\033[31m\x07\x7f\t"), BYTES("STATUS=?[31m???") },
        { BYTES("STATUS=\xc2\x9b"
                "31m"),
          BYTES("STATUS=?31m") }, /* a control character of two bytes */
        { BYTES("STATUS=\xe2\x80\xae"
                "x\xe2\x80\xa8"),
          BYTES("STATUS=?x?") }, /* right to left; end of line */
        { BYTES("STATUS=\xff\xc3"), BYTES("STATUS=??") },
        { BYTES("STATUS=\xed\xa0\x80"), BYTES("STATUS=???") },                  /* half a surrogate pair */
        { BYTES("STATUS=x\xef\xbf\xbey\xef\xb7\x90z"), BYTES("STATUS=x?y?z") }, /* noncharacters */
        { BYTES("STATUS=a\xc3\nREADY=1"), BYTES("STATUS=a?\nREADY=1") },
        /* Refused. */
        { BYTES("MAINPID=1"), BYTES(""), "MAINPID" },
        { BYTES("READY=1\nMAINPID=1\nSTATUS=x"), BYTES("READY=1\nSTATUS=x"), "MAINPID" },
        { BYTES("STATUS=x\rMAINPID=1"), BYTES("STATUS=x"), "MAINPID" }, /* an end of a line to systemd */
        { BYTES("MAINPIDFD=1"), BYTES(""), "MAINPIDFD" },
        { BYTES("MAINPIDFDID=1"), BYTES("") },
        { BYTES("EXTEND_TIMEOUT_USEC=1000000"), BYTES(""), "EXTEND_TIMEOUT_USEC" },
        { BYTES("FDSTORE=1\nFDNAME=x\nFDPOLL=0"), BYTES(""), "FDSTORE" },
        { BYTES("FDSTOREREMOVE=1\nFDNAME=x"), BYTES("") },
        { BYTES("NOTIFYACCESS=all"), BYTES(""), "NOTIFYACCESS" },
        { BYTES("RESTART_RESET=1"), BYTES(""), "RESTART_RESET" },
        { BYTES("EXIT_STATUS=1\nX_SYSTEMD_SHUTDOWN=x"), BYTES("") },
        { BYTES("BARRIER=1"), BYTES("") },
        { BYTES("READY=1\0MAINPID=1"), BYTES("") },
        { BYTES("READY=1\0\0"), BYTES("") },
};

START_TEST(test_cases) {
        char heard[NOTIFY_MESSAGE_MAX];
        const char *refused;
        size_t n = notify_filter(cases[_i].said.text, cases[_i].said.size, heard, &refused);

        ck_assert_uint_eq(n, cases[_i].heard.size);
        ck_assert_mem_eq(heard, cases[_i].heard.text, n);
        ck_assert_pstr_eq(refused, cases[_i].refused);
}
END_TEST

START_TEST(test_longest) {
        char said[NOTIFY_MESSAGE_MAX + 1], heard[NOTIFY_MESSAGE_MAX];

        memset(said, 'x', sizeof said);
        memcpy(said, "STATUS=", strlen("STATUS="));
        ck_assert_uint_eq(notify_filter(said, NOTIFY_MESSAGE_MAX, heard, NULL), NOTIFY_MESSAGE_MAX);
        ck_assert_mem_eq(said, heard, NOTIFY_MESSAGE_MAX);
        ck_assert_uint_eq(notify_filter(said, NOTIFY_MESSAGE_MAX + 1, heard, NULL), 0);
}
END_TEST

START_TEST(test_barrier) {
        ck_assert(notify_filter_is_barrier("BARRIER=1", 9));
        ck_assert(notify_filter_is_barrier("BARRIER=1\n", 10));
        ck_assert(notify_filter_is_barrier("BARRIER=1\n\0", 11));
        ck_assert(!notify_filter_is_barrier("BARRIER=1\nREADY=1", 17));
        ck_assert(!notify_filter_is_barrier("BARRIER=11", 10));
        ck_assert(!notify_filter_is_barrier("", 0));
}
END_TEST

/* Does systemd, which ends a line at either byte, understand nothing but what is allowed? */
static void check_harmless(const char *text, size_t size) {
        static const char *const allowed[] = { "READY=1",          "RELOADING=1",   "STOPPING=1",      "WATCHDOG=1",
                                               "WATCHDOG=trigger", "ERRNO=",        "MONOTONIC_USEC=", "BUSERROR=",
                                               "WATCHDOG_USEC=",   "VARLINKERROR=", "STATUS=" };
        g_autofree char *copy = g_strndup(text, size);
        g_auto(GStrv) lines = g_strsplit_set(copy, "\n\r", -1);

        ck_assert_uint_eq(strlen(copy), size); /* no NUL byte */
        ck_assert(g_utf8_validate(text, (gssize) size, NULL));
        for (guint i = 0; size > 0 && lines[i]; i++) {
                bool found = false;

                for (guint j = 0; j < G_N_ELEMENTS(allowed); j++)
                        found |= g_str_has_prefix(lines[i], allowed[j]);
                ck_assert_msg(found, "'%s'", lines[i]);
                for (const char *c = lines[i]; *c; c++)
                        ck_assert_msg(!g_ascii_iscntrl(*c), "%02x in '%s'", *c, lines[i]);
        }
}

/* Words and bytes that mean something, in any order; the result is exactly as large as it may be. */
START_TEST(test_whatever_is_said) {
        static const char *const parts[] = { "READY",
                                             "=",
                                             "1",
                                             "\n",
                                             "\r",
                                             "STATUS=",
                                             "MAINPID=",
                                             "\xc3",
                                             "\xe2\x80",
                                             "\033[2J",
                                             "ERRNO",
                                             "BUSERROR",
                                             "WATCHDOG",
                                             "trigger",
                                             "_USEC=",
                                             "FDSTORE=1",
                                             "\xf0\x9f\x9a\x97",
                                             "x",
                                             "-",
                                             "99999999999",
                                             "\x80" };
        g_autoptr(GRand) random = g_rand_new_with_seed(4711);

        for (int round = 0; round < 200000; round++) {
                g_autoptr(GString) said = g_string_new(NULL);
                g_autofree char *heard = NULL;
                size_t n;

                for (int i = g_rand_int_range(random, 0, 16); i > 0; i--)
                        if (g_rand_int_range(random, 0, 40) == 0)
                                g_string_append_c(said, (char) g_rand_int_range(random, 0, 256));
                        else
                                g_string_append(said, parts[g_rand_int_range(random, 0, G_N_ELEMENTS(parts))]);
                heard = g_malloc(said->len + 1);
                heard[said->len] = 'e';
                n = notify_filter(said->str, said->len, heard, NULL);
                ck_assert_uint_le(n, said->len);
                ck_assert_int_eq(heard[said->len], 'e');
                check_harmless(heard, n);
        }
}
END_TEST

static const struct {
        const char *said, *told;
} settled[] = {
        { "WATCHDOG=1", "WATCHDOG=1" },
        { "XREADY=1", "XREADY=1" },
        { "READY=1", "READY=1\nSTATUS=" },
        { "READY=1", "READY=1" }, /* once */
        { NULL, NULL },
        { "STATUS=at work", "STATUS=at work" },
        { "READY=1", "READY=1" },
        { NULL, NULL },
        { "STATUS=there\nREADY=1", "STATUS=there\nREADY=1" },
        { "READY=1", "READY=1" },
};

/* Of one payload after the other. */
START_TEST(test_settle) {
        bool had_status = false;

        for (size_t i = 0; i < G_N_ELEMENTS(settled); i++) {
                char state[NOTIFY_MESSAGE_MAX + 1] = "";
                size_t size;

                if (!settled[i].said) {
                        had_status = false;
                        continue;
                }
                strcpy(state, settled[i].said);
                size = notify_filter_settle(state, strlen(state), &had_status);
                state[size] = '\0';
                ck_assert_str_eq(state, settled[i].told);
        }
}
END_TEST

/* What is full stays as it is. */
START_TEST(test_settle_full) {
        char state[NOTIFY_MESSAGE_MAX];
        bool had_status = false;

        memset(state, 'x', sizeof state);
        memcpy(state, "READY=1\n", strlen("READY=1\n"));
        ck_assert_uint_eq(notify_filter_settle(state, sizeof state - 3, &had_status), sizeof state - 3);
}
END_TEST

TEST_MAIN("notify-filter", {
        tcase_add_test(tcase, test_settle);
        tcase_add_test(tcase, test_settle_full);
        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_cases, 0, G_N_ELEMENTS(cases));
        tcase_add_test(tcase, test_longest);
        tcase_add_test(tcase, test_barrier);
        tcase_add_test(tcase, test_whatever_is_said);
})
