/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>

/* main() of a unit test: a block that adds the tests to the TCase `tcase`, whose name is in the TAP that it prints.
 */
#define TEST_MAIN(name, ...)                             \
        int main(void) {                                 \
                Suite *suite = suite_create(name);       \
                TCase *tcase = tcase_create(name);       \
                SRunner *runner = srunner_create(suite); \
                                                         \
                suite_add_tcase(suite, tcase);           \
                __VA_ARGS__;                             \
                srunner_set_tap(runner, "-");            \
                srunner_run_all(runner, CK_SILENT);      \
                srunner_free(runner);                    \
                return 0;                                \
        }
