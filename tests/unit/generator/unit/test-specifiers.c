/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "generator/unit/keys.h"
#include "generator/unit/specifiers.h"
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
        g_autofree char *unit = specifiers_escape("/etc/100%/$x", "%");

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
        g_autofree char *required = specifiers_required_path(path);

        ck_assert_pstr_eq(required, require_cases[_i].required);
}
END_TEST

static const struct {
        const char *name, *of_root, *of_user;
} file_cases[] = {
        { "/a/b.yaml", "/a/b.yaml", "/a/b.yaml" },
        { "x/../b.yaml", "/etc/q/b.yaml", "/etc/q/b.yaml" },
        { "50%%.yaml", "/etc/q/50%.yaml", "/etc/q/50%.yaml" },
        { "%h/b.yaml", "/root/b.yaml", "/home/u/b.yaml" },
        { "%E/b.yaml", "/etc/b.yaml", "/home/u/.config/b.yaml" },
        { "%t/b.yaml", "/run/b.yaml", NULL },
        { "x/%h", "/etc/q/x/root", "/etc/q/x/home/u" },
        { "${HOME}/b", "/etc/q/${HOME}/b", "/etc/q/${HOME}/b" },
        { "%i/b.yaml", NULL, NULL },
        { "b%", NULL, NULL },
};

START_TEST(finds_files) {
        const char *expected = geteuid() == 0 ? file_cases[_i].of_root : file_cases[_i].of_user;
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;

        g_setenv("HOME", "/home/u", true);
        g_unsetenv("XDG_CONFIG_HOME");
        g_unsetenv("XDG_RUNTIME_DIR");
        path = specifiers_file_path("/etc/q", file_cases[_i].name, &error);
        ck_assert_pstr_eq(path, expected);
        ck_assert_int_eq(!path, !!error);
}
END_TEST

static const struct {
        const char *text, *unknown;
} unknown_cases[] = {
        { "", NULL },
        { "%", NULL },
        { "50% off, %%2, 5%", NULL },
        { "%h/%i-%n", NULL },
        { "%23ff", "%23ff" },
        { "%%%2", "%2" },
        { "p%40w@db", "%40w@db" },
        { "a%zb%i", "%zb%i" },
        { "%D%P%p%c%r%R", NULL },
        { "%\xc3\xa4", NULL },
};

START_TEST(finds_unknown) {
        ck_assert_pstr_eq(specifiers_find_unknown(unknown_cases[_i].text), unknown_cases[_i].unknown);
}
END_TEST

TEST_MAIN("specifiers", {
        tcase_add_loop_test(tcase, resolves, 0, G_N_ELEMENTS(resolve_cases));
        tcase_add_test(tcase, escapes_directory);
        tcase_add_loop_test(tcase, requires_mounts, 0, G_N_ELEMENTS(require_cases));
        tcase_add_loop_test(tcase, finds_files, 0, G_N_ELEMENTS(file_cases));
        tcase_add_loop_test(tcase, finds_unknown, 0, G_N_ELEMENTS(unknown_cases));
})
