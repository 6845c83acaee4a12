/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/handlers.h"
#include "generator/keys.h"
#include "tests/unit/test-main.h"

/* The table is searched by halves. */
START_TEST(is_sorted) {
        for (size_t i = 1; i < n_keys_container; i++)
                ck_assert_msg(strcmp(keys_container[i - 1].name, keys_container[i].name) < 0, "'%s' is before '%s'",
                              keys_container[i - 1].name, keys_container[i].name);
}
END_TEST

/* As many as Quadlet has. */
START_TEST(is_complete) {
        ck_assert_uint_eq(n_keys_container, 94);
}
END_TEST

/* A refused key says why, and a key that is an option names one that libstart has: set_option() aborts else.
 * */
START_TEST(has_texts) {
        for (size_t i = 0; i < n_keys_container; i++) {
                const Key *key = &keys_container[i];
                g_autofree char *help = launch_args_help(), *option = NULL;

                if (!key->handle)
                        ck_assert_msg(key->text && strlen(key->text) > 10, "'%s' does not say why", key->name);
                if (key->handle != set_option)
                        continue;
                option = g_strdup_printf("--%s ", key->text);
                ck_assert_msg(strstr(help, option), "'%s' is an unknown option, %s", key->name, option);
        }
}
END_TEST

TEST_MAIN("keys", {
        tcase_add_test(tcase, is_sorted);
        tcase_add_test(tcase, is_complete);
        tcase_add_test(tcase, has_texts);
})
