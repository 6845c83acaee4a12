/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/unit/own-name.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *service, *full, *unit, *file;
} units[] = {
        { "web.service", "web", "keyturn-copy@web.service", "keyturn-copy@web.service.d/50-x.conf" },
        { "web@.service", "web@%i", "keyturn-copy-web@%i.service", "keyturn-copy-web@.service" },
        { "web@one.service", "web@one", "keyturn-copy-web@one.service", "keyturn-copy-web@one.service" },
        { "a-b@c@d.service", "a-b@c@d", "keyturn-copy-a-b@c@d.service", "keyturn-copy-a-b@c@d.service" },
};

START_TEST(its_unit_and_where_that_is_written) {
        g_auto(OwnName) own = { 0 };
        g_autofree char *unit = NULL, *file = NULL;

        own_name_find(units[_i].service, &own);
        unit = own_name_unit(&own, "copy");
        file = own_name_file(&own, "copy", "50-x.conf");
        ck_assert_str_eq(own.full, units[_i].full);
        ck_assert_str_eq(unit, units[_i].unit);
        ck_assert_str_eq(file, units[_i].file);
        ck_assert_int_eq(own_name_has_instance(&own), _i > 0);
}
END_TEST

/* As the service has it, and not the unit that is made ahead of it. */
static const struct {
        const char *service, *text, *expected;
} texts[] = {
        { "web.service", "systemd-%N %n %p %i|%t", "systemd-web web.service web |%t" },
        { "my-web@.service", "systemd-%p_%i %j %N %I", "systemd-my-web_%i web my-web@%i %I" },
        { "web@a-b.service", "%i %I %N %n", "a-b a/b web@a-b web@a-b.service" },
        { "web@.service", "%%i %%%i 100%", "%%i %%%i 100%" },
        { "web@x.service", "%%i %%%i", "%%i %%x" },
};

START_TEST(specifiers_of_its_name_are_replaced) {
        g_auto(OwnName) own = { 0 };
        g_autofree char *text = NULL;

        own_name_find(texts[_i].service, &own);
        text = own_name_replace(texts[_i].text, &own);
        ck_assert_str_eq(text, texts[_i].expected);
}
END_TEST

TEST_MAIN("own-name", {
        tcase_add_loop_test(tcase, its_unit_and_where_that_is_written, 0, G_N_ELEMENTS(units));
        tcase_add_loop_test(tcase, specifiers_of_its_name_are_replaced, 0, G_N_ELEMENTS(texts));
})
