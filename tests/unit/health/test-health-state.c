/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/health/health-state.h"
#include "tests/unit/test-main.h"

static char *words[] = { (char *) "true", NULL };

/* Each result is a letter: + and - for success and failure, ( and ) for the same in the start period. Behind it is
 * what is made of it: the status' first letter, then the consequences: C, P(assed), F(ailed startup), A(ct), R(eady),
 * H(opeless). An x is a command that is not there, X one that cannot be executed, and [ the former in the start
 * period.
 */
typedef struct Case {
        guint retries;
        bool startup;
        guint startup_retries, startup_successes;
        bool notify;
        const char *results;
        const char *expected;
} Case;

static const Case cases[] = {
        { 3, false, 0, 0, false, "+", "hC" },
        { 3, false, 0, 0, false, "-", "s" },
        { 3, false, 0, 0, false, "---", "s s uCA" },
        { 3, false, 0, 0, false, "----", "s s uCA uA" },
        { 3, false, 0, 0, false, "--+--", "s s hC h h" },
        { 3, false, 0, 0, false, "+---+", "hC h h uCA hC" },
        { 1, false, 0, 0, false, "-+-", "uCA hC uCA" },
        { 0, false, 0, 0, false, "-", "uCA" }, /* an image that names no number */
        /* The start period: failures do not count, a success does at once. */
        { 1, false, 0, 0, false, ")))-", "s s s uCA" },
        { 2, false, 0, 0, false, ")(---", "s hC h uCA uA" },
        { 1, false, 0, 0, false, "()", "hC h" },
        /* What has been counted before stays counted. */
        { 2, false, 0, 0, false, "-)-", "s s uCA" },
        /* READY=1 once, whatever comes later. */
        { 1, false, 0, 0, true, "-++", "uCA hCR h" },
        { 2, false, 0, 0, true, "+--+", "hCR h uCA hC" },
        /* What cannot be executed is not waited for. */
        { 3, false, 0, 0, true, "xX", "sH sH" },
        { 1, false, 0, 0, true, "[+x", "s hCR uCA" },
        { 1, false, 0, 0, false, "x", "uCA" },
        { 3, true, 0, 0, true, "x", "sH" },
        /* A startup check: never unhealthy by it. */
        { 1, true, 0, 0, false, "-----", "s s s s s" },
        { 1, true, 0, 0, false, "--+-", "s s hCP uCA" },
        { 1, true, 0, 1, false, "+-", "hCP uCA" },
        { 1, true, 0, 3, false, "++-+", "hC h h hP" },
        { 1, true, 0, 2, true, "-++", "s hCR hP" },
        { 1, true, 3, 0, false, "---", "s s sF" },
        { 1, true, 3, 2, false, "-+--", "s hC h hF" }, /* all failures count, not those in a row */
        { 1, true, 1, 0, false, "+-", "hCP uCA" },     /* not when it has passed */
        { 2, true, 0, 0, false, "-+-", "s hCP h" },
};

static void append_consequences(GString *text, guint consequences) {
        static const char letters[] = "CPFARH";

        for (size_t i = 0; letters[i]; i++)
                if (consequences & (1U << i))
                        g_string_append_c(text, letters[i]);
}

START_TEST(test_case) {
        const Case *test = &cases[_i];
        const HealthPlan plan = {
                .regular = { .command = words, .retries = test->retries },
                .startup = { .command = test->startup ? words : NULL,
                             .retries = test->startup_retries,
                             .successes = test->startup_successes },
                .notify = test->notify,
        };
        HealthState state = { 0 };
        g_autoptr(GString) found = g_string_new(NULL);

        for (const char *result = test->results; *result; result++) {
                guint consequences = health_state_apply(&state, &plan,
                                                        *result == 'x' || *result == '[' ? 127 :
                                                        *result == 'X'                   ? 126 :
                                                        *result == '+' || *result == '(' ? 0 :
                                                                                           1,
                                                        *result == '(' || *result == ')' || *result == '[');

                state.told_ready |= (consequences & HEALTH_TELL_READY) != 0;
                if (found->len > 0)
                        g_string_append_c(found, ' ');
                g_string_append_c(found, health_status_print(state.status)[0]);
                append_consequences(found, consequences);
        }
        ck_assert_str_eq(found->str, test->expected);
}
END_TEST

START_TEST(test_names) {
        HealthStatus status;

        for (int i = HEALTH_STARTING; i <= UNHEALTHY; i++) {
                ck_assert(health_status_parse(health_status_print((HealthStatus) i), &status));
                ck_assert_int_eq(status, i);
        }
        ck_assert(!health_status_parse("", &status));
        ck_assert(!health_status_parse("Healthy", &status));
}
END_TEST

TEST_MAIN("health-state", {
        tcase_add_loop_test(tcase, test_case, 0, G_N_ELEMENTS(cases));
        tcase_add_test(tcase, test_names);
})
