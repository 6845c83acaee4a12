/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <string.h>

#include "libstart/base/error.h"
#include "tests/unit/test-main.h"

/* The error is keyturn's, has this code and says this somewhere. */
#define expect_error(error, error_code, part)                                                                    \
        do {                                                                                                     \
                ck_assert_msg((error) != NULL, "no error, expected: %s", part);                                  \
                ck_assert_msg(g_error_matches(error, KT_ERROR, (int) (error_code)), "code %d, expected %d: %s",  \
                              (error)->code, (int) (error_code), (error)->message);                              \
                ck_assert_msg(strstr((error)->message, part), "'%s' does not say '%s'", (error)->message, part); \
        } while (0)
