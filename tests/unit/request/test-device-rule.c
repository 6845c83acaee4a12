/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/device-rule.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "c 13:* rw", "c 13 -1 rw" },
        { "b 8:1 r", "b 8 1 r" },
        { "a *:* rwm", "a -1 -1 rwm" },
        { "c *:1048575 m", "c -1 1048575 m" },
};

#define FORM "the form is TYPE MAJOR:MINOR ACCESS"

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "device rule '': " FORM },
        { "c 13:*", KT_ERROR_USAGE, FORM },
        { "c 13:* rw ", KT_ERROR_USAGE, FORM },
        { "x 13:* rw", KT_ERROR_USAGE, FORM },
        { "cc 13:* rw", KT_ERROR_USAGE, FORM },
        { " 13:* rw", KT_ERROR_USAGE, FORM },
        { "c 13 rw", KT_ERROR_USAGE, FORM },
        { "c 13:1:2 rw", KT_ERROR_USAGE, FORM },
        { "c -1:1 rw", KT_ERROR_USAGE, FORM },
        { "c 13:1048576 rw", KT_ERROR_USAGE, FORM },
        { "c 4294967309:1 rw", KT_ERROR_USAGE, FORM },
        { "c 13:* rwx", KT_ERROR_USAGE, FORM },
        { "c 13:* rr", KT_ERROR_USAGE, FORM },
        { "c 13:* ", KT_ERROR_USAGE, FORM },
};

static char *parse(const char *value, GError **error) {
        DeviceRule rule;

        if (!device_rule_parse(value, &rule, error))
                return NULL;
        return g_strdup_printf("%c %d %d %s", rule.type, (int) rule.major, (int) rule.minor, rule.access);
}

PARSE_TESTS(parse)

TEST_MAIN("device-rule", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
