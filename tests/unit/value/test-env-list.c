/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/value/env-list.h"
#include "tests/unit/base/expect-error.h"

static GPtrArray *make_env(const char *const *entries) {
        GPtrArray *env = g_ptr_array_new_with_free_func(g_free);

        for (; *entries; entries++)
                g_ptr_array_add(env, g_strdup(*entries));
        return env;
}

static void check(const GPtrArray *env, const char *const *entries) {
        ck_assert_uint_eq(env->len, g_strv_length((char **) entries));
        for (guint i = 0; i < env->len; i++)
                ck_assert_str_eq(env->pdata[i], entries[i]);
}

static const char *const entries[] = {
        "A=1", "I=%i", "A=a b\n\"c\"\\ ", "V=${X}", "\xc3\x84=\xc3\xb6", "A=%%", "NAME", "E=", NULL,
};
static const char *const left[] = { "I=%i", "V=${X}", "A=%%", NULL };

START_TEST(test_there_and_back) {
        g_autoptr(GPtrArray) env = make_env(entries);
        GString *list = env_list_take(env);

        check(env, left);
        g_autoptr(GPtrArray) all = env_list_merge(list->str, list->len, env, NULL);
        check(all, entries);
        g_string_free(list, TRUE);
}
END_TEST

START_TEST(test_bad) {
        static const struct {
                const char *data;
                gsize length;
                const char *message;
        } bad[] = {
                { "A=1", 3, "cut off" },           { "A=1\0B=", 6, "cut off" }, { "A=1\0", 4, "does not fit" },
                { "\0\0\0\0", 4, "does not fit" }, { "", 0, "does not fit" },
        };
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autoptr(GPtrArray) env = make_env(left);
                g_autoptr(GError) error = NULL;

                ck_assert_ptr_null(env_list_merge(bad[i].data, bad[i].length, env, &error));
                expect_error(error, KT_ERROR_FAILED, bad[i].message);
                check(env, left);
        }
}
END_TEST

TEST_MAIN("env-list", {
        tcase_add_test(tcase, test_there_and_back);
        tcase_add_test(tcase, test_bad);
})
