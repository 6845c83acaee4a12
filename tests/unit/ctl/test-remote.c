/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/remote.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *words[4];
        const char *host; /* NULL: of this machine */
        int rest;
} lines[] = {
        { { NULL }, NULL, 0 },
        { { "list", "-H", "a" }, NULL, 0 }, /* the command may have an option of that name one day */
        { { "--json", "-H", "a" }, NULL, 0 },
        { { "--hostage", "a" }, NULL, 0 },
        { { "-H" }, "", 1 },
        { { "--host=" }, "", 1 },
        { { "-H", "root@a", "list" }, "root@a", 2 },
        { { "-Ha", "list" }, "a", 1 },
        { { "--host", "a" }, "a", 2 },
        { { "--host=a", "list" }, "a", 1 },
        { { "-H", "-oProxyCommand=id", "list" }, "-oProxyCommand=id", 2 },
};

START_TEST(test_host) {
        char **words = (char **) lines[_i].words, **rest = NULL;

        ck_assert_pstr_eq(remote_find_host(words, &rest), lines[_i].host);
        if (lines[_i].host)
                ck_assert_ptr_eq(rest, words + lines[_i].rest);
}
END_TEST

static const char *const no_hosts[] = { "", "-", "-oProxyCommand=id", "--", "a b", "a\nb", "a\tb" };

START_TEST(test_no_host) {
        g_autoptr(GError) error = NULL;
        char *const words[] = { (char *) "list", NULL };

        ck_assert_ptr_null(remote_make_call(no_hosts[_i], words, false, &error));
        ck_assert_ptr_nonnull(error);
}
END_TEST

START_TEST(test_call) {
        char *const words[] = { (char *) "list", NULL };
        g_auto(GStrv) call = remote_make_call("root@a", words, false, NULL);
        g_auto(GStrv) on_terminal = remote_make_call("root@a", words, true, NULL);
        g_autofree char *joined = g_strjoinv("|", call), *joined_on_terminal = g_strjoinv("|", on_terminal);

        ck_assert_str_eq(joined, "ssh|--|root@a|keyturnctl 'list'");
        ck_assert_str_eq(joined_on_terminal, "ssh|-t|--|root@a|keyturnctl 'list'");
}
END_TEST

/* What the shell over there is given as a command, it takes apart into the same words again. */
START_TEST(test_words_are_words) {
        const char *words[] = { "exec",     "-e",    "A=b c", "web",     "",  "'", "\"$(id)\" `id`",
                                "\\",       "a\\'b", "; id",  "a\nb #c", "*", "~", "$HOME",
                                "\xff\x1b", "é",     "!1",    "-H",      NULL };
        g_auto(GStrv) call = remote_make_call("a", (char *const *) words, false, NULL);
        g_autofree char *script = g_strdup_printf("keyturnctl() { printf '%%s|' \"$@\"; }; %s", call[3]);
        g_autofree char *expected = g_strjoinv("|", (char **) words), *printed = NULL, *whole = NULL;
        char *sh[] = { (char *) "/bin/sh", (char *) "-c", script, NULL };

        ck_assert(g_spawn_sync("/", sh, NULL, G_SPAWN_DEFAULT, NULL, NULL, &printed, NULL, NULL, NULL));
        whole = g_strconcat(expected, "|", NULL);
        ck_assert_str_eq(printed, whole);
}
END_TEST

TEST_MAIN("ctl/remote", {
        tcase_add_loop_test(tcase, test_host, 0, G_N_ELEMENTS(lines));
        tcase_add_loop_test(tcase, test_no_host, 0, G_N_ELEMENTS(no_hosts));
        tcase_add_test(tcase, test_call);
        tcase_add_test(tcase, test_words_are_words);
})
