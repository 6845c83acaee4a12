/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/base/expect-error.h"

/* A value, and what is made of it. */
typedef struct GoodValue {
        const char *value, *text;
} GoodValue;

/* A value, and what is said about it somewhere in the error. */
typedef struct BadValue {
        const char *value;
        ErrorCode code;
        const char *message;
} BadValue;

/* The loop tests test_good and test_bad, of the tables `good` and `bad`, for a parser of one value:
 * `char *parse(const char *value, GError **error)` says what is made of the value (transfer full), or NULL. */
#define PARSE_TESTS(parse)                                                                        \
        START_TEST(test_good) {                                                                   \
                g_autoptr(GError) error = NULL;                                                   \
                g_autofree char *text = parse(good[_i].value, &error);                            \
                                                                                                  \
                ck_assert_msg(text, "'%s': %s", good[_i].value, error ? error->message : "NULL"); \
                ck_assert_str_eq(text, good[_i].text);                                            \
        }                                                                                         \
        END_TEST                                                                                  \
                                                                                                  \
        START_TEST(test_bad) {                                                                    \
                g_autoptr(GError) error = NULL;                                                   \
                g_autofree char *text = parse(bad[_i].value, &error);                             \
                                                                                                  \
                ck_assert_msg(!text, "'%s' was accepted: %s", bad[_i].value, text);               \
                expect_error(error, bad[_i].code, bad[_i].message);                               \
        }                                                                                         \
        END_TEST
