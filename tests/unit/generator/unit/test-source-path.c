/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/unit/keys.h"
#include "generator/unit/source-path.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *path, *resolved;
} resolve_cases[] = {
        { "/a/./b", "/a/./b" }, { "x", "/etc/q/x" },         { "./x", "/etc/q/x" },
        { ".", "/etc/q" },      { "../x/y", "/etc/x/y" },    { "../../../x", "/x" },
        { "%h/x", "%h/x" },     { "%%h/x", "/etc/q/%%h/x" }, { "${X}/y", "/etc/q/${X}/y" },
};

START_TEST(resolves) {
        g_autofree char *path = key_resolve_path("/etc/q", resolve_cases[_i].path);

        ck_assert_str_eq(path, resolve_cases[_i].resolved);
}
END_TEST

/* The directory's own % and $ are not for systemd to expand. */
START_TEST(escapes_directory) {
        g_autofree char *path = key_resolve_path("/etc/100%/$x", "./%i");
        g_autofree char *unit = source_path_escape("/etc/100%/$x", "%");

        ck_assert_str_eq(path, "/etc/100%%/$$x/%i");
        ck_assert_str_eq(unit, "/etc/100%%/$x");
}
END_TEST

static const struct {
        const char *path, *required;
} require_cases[] = {
        { "/a/b", "/a/b" },   { "%t/x", "%t/x" },     { "%i/x", NULL },  { "relative", NULL },
        { "${X}/y", NULL },   { "/a/${X}/b", "/a/" }, { "/${X}", NULL }, { "/a/x$Y", "/a/" },
        { "/a/%i", "/a/%i" }, { "", NULL },           { "%", NULL },     { "%h/${X}", "%h/" },
};

START_TEST(requires_mounts) {
        const char *path = require_cases[_i].path;
        g_autofree char *required = source_path_for_mounts(path);

        ck_assert_pstr_eq(required, require_cases[_i].required);
}
END_TEST

TEST_MAIN("source-path", {
        tcase_add_loop_test(tcase, resolves, 0, G_N_ELEMENTS(resolve_cases));
        tcase_add_test(tcase, escapes_directory);
        tcase_add_loop_test(tcase, requires_mounts, 0, G_N_ELEMENTS(require_cases));
})
