/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/kube/quantity.h"
#include "tests/unit/base/parse-tests.h"

static char *parse(const char *value, GError **error) {
        guint64 amount;

        if (quantity_parse(value, &amount))
                return g_strdup_printf("%" G_GUINT64_FORMAT, amount);
        error_set(error, KT_ERROR_FAILED, "none");
        return NULL;
}

static const GoodValue good[] = {
        { "1", "1000" },         { "500m", "500" },   { "0.1", "100" },     { "1.5Ki", "1536000" },
        { "1Mi", "1048576000" }, { "2k", "2000000" }, { "1e3", "1000000" }, { "0.0001", "1" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "none" },     { "-1", KT_ERROR_FAILED, "none" },
        { "1x", KT_ERROR_FAILED, "none" },   { "0x10", KT_ERROR_FAILED, "none" },
        { "inf", KT_ERROR_FAILED, "none" },  { "9999999Ti", KT_ERROR_FAILED, "none" },
        { "1 Mi", KT_ERROR_FAILED, "none" },
};

PARSE_TESTS(parse)

TEST_MAIN("kube-quantity", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
