/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>
#include <string.h>

#include "libstart/base/error.h"

/* The error is keyturn's, has this code and says this somewhere. */
#define expect_error(error, error_code, part)                                                                    \
        do {                                                                                                     \
                ck_assert_msg((error) != NULL, "no error, expected: %s", part);                                  \
                ck_assert_msg(g_error_matches(error, KT_ERROR, (int) (error_code)), "code %d, expected %d: %s",  \
                              (error)->code, (int) (error_code), (error)->message);                              \
                ck_assert_msg(strstr((error)->message, part), "'%s' does not say '%s'", (error)->message, part); \
        } while (0)

/* main() of a unit test: `functions` adds the tests to the TCase `tcase`. */
#define TEST_MAIN(name, functions)                       \
        int main(void) {                                 \
                Suite *suite = suite_create(name);       \
                TCase *tcase = tcase_create("all");      \
                SRunner *runner = srunner_create(suite); \
                                                         \
                suite_add_tcase(suite, tcase);           \
                functions;                               \
                srunner_set_tap(runner, "-");            \
                srunner_run_all(runner, CK_SILENT);      \
                srunner_free(runner);                    \
                return 0;                                \
        }
