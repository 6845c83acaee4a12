/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/secret-request.h"
#include "tests/unit/request/read-words.h"

static char *choose(const char *const *words) {
        g_auto(ReadWords) asked = read_words(words);

        return container_request_hostname(&asked.request, "hub");
}

START_TEST(test_given) {
        g_autofree char *with_host = choose(WORDS("--hostname=cam", "i"));
        g_autofree char *with_none = choose(WORDS("--hostname=cam", "--network=none", "i"));

        ck_assert_str_eq(with_host, "cam");
        ck_assert_str_eq(with_none, "cam");
}
END_TEST

START_TEST(test_host_network) {
        g_autofree char *unset = choose(WORDS("i"));
        g_autofree char *host = choose(WORDS("--network=host", "i"));

        ck_assert_str_eq(unset, "hub");
        ck_assert_str_eq(host, "hub");
}
END_TEST

START_TEST(test_own_network) {
        g_autofree char *first = choose(WORDS("--name=cam", "--network=none", "i"));
        g_autofree char *again = choose(WORDS("--network=none", "--name=cam", "i"));
        g_autofree char *other = choose(WORDS("--network=none", "--name=cam2", "i"));

        ck_assert_uint_eq(strlen(first), 12);
        ck_assert_uint_eq(strspn(first, "0123456789abcdef"), 12);
        ck_assert_str_eq(first, again);
        ck_assert_str_ne(first, other);
}
END_TEST

/* Of two secrets with one target the later one is kept, in its place; a variable and a file never have the same. */
START_TEST(test_secrets) {
        g_auto(ReadWords)
                asked = read_words(WORDS("--secret=a,target=/t", "--secret=b,type=env", "--secret=c,target=/t",
                                         "--secret=d,type=env,target=b", "--secret=e,type=env,target=/t", "i"));
        g_autoptr(GString) names = g_string_new(NULL);

        for (guint i = 0; i < asked.request.secrets->len; i++)
                g_string_append(names, ((const SecretRequest *) asked.request.secrets->pdata[i])->name);
        ck_assert_str_eq(names->str, "cde");
}
END_TEST

/* "none" is not undone by the flag, which is read after it. */
START_TEST(test_health) {
        g_auto(ReadWords) given = read_words(WORDS("--health-cmd=CMD /bin/a  b", "--health-startup-cmd=c", "i"));
        g_auto(ReadWords) none = read_words(WORDS("--health-cmd=none", "--no-healthcheck=false", "i"));
        g_auto(ReadWords) empty = read_words(WORDS("--health-cmd=", "--health-startup-cmd=", "i"));
        g_autofree char *regular = g_strjoinv("|", given.request.health.regular.command);
        g_autofree char *startup = g_strjoinv("|", given.request.health.startup.command);

        ck_assert_str_eq(regular, "/bin/a|b");
        ck_assert_str_eq(startup, "/bin/sh|-c|c");
        ck_assert(!given.request.health.off);
        ck_assert(none.request.health.off && !none.request.health.regular.command);
        ck_assert(!empty.request.health.off && !empty.request.health.regular.command);
        ck_assert_ptr_null(empty.request.health.startup.command);
}
END_TEST

TEST_MAIN("hostname", {
        tcase_add_test(tcase, test_given);
        tcase_add_test(tcase, test_host_network);
        tcase_add_test(tcase, test_own_network);
        tcase_add_test(tcase, test_secrets);
        tcase_add_test(tcase, test_health);
})
