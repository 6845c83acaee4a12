/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/user.h"
#include "tests/unit/oci/facts.h"

#define PASSWD                                     \
        "# comment:x:0:0::/:\n"                    \
        "root:x:0:0:root:/root:/bin/sh\n"          \
        "\n"                                       \
        "broken\n"                                 \
        "toor:x:zero:0::/root:\n"                  \
        "  bob:x:1000:1000::/home/bob:/bin/sh  \n" \
        "bob:x:1001:1001::/home/second:/bin/sh\n"  \
        "44:x:1044:1044::/home/number:\n"          \
        "nohome:x:1002:1002\n"                     \
        "relative:x:1003:1003::home:\n"            \
        "last:x:1004:1004::/home/last:/bin/sh"

#define GROUP                     \
        "root:x:0:\n"             \
        "bob:x:1000:\n"           \
        "wheel:x:10:root,alice\n" \
        "video:x:44:alice,bob\n"  \
        "broken:x:ten:bob\n"      \
        "again:x:44:bob\n"        \
        "short:x:45\n"            \
        "audio:x:63:bob"

/* "UID:GID NAME HOME [GIDS]", flags: p in passwd, x explicit group. Those marked podman were
 * compared with Podman 5.4.2. */
static const struct {
        const char *spec, *expected;
} good[] = {
        { NULL, "0:0 root /root [10] p" }, /* podman */
        { "", "0:0 root /root [10] p" },   /* podman */
        { "root", "0:0 root /root [0,10] p" },
        { "0", "0:0 root /root [0,10] p" },
        { "00", "0:0 root /root [0,10] p" },                  /* podman: a number is an id */
        { "bob", "1000:1000 bob /home/bob [1000,44,63] p" },  /* podman: the first of two; each group once */
        { "1000", "1000:1000 bob /home/bob [1000,44,63] p" }, /* podman */
        { "bob:video", "1000:44 bob /home/bob [44] px" },     /* podman */
        { "bob:0", "1000:0 bob /home/bob [0] px" },           /* podman */
        { "1000:999", "1000:999 bob /home/bob [999] px" },    /* podman */
        { "0:44", "0:44 root /root [44] px" },                /* podman */
        { ":44", "0:44 root /root [44] px" },                 /* podman */
        { "5000", "5000:0 - / [0] " },                        /* podman */
        { "5000:6000", "5000:6000 - / [6000] x" },
        { "44", "44:0 - / [0] " }, /* not the user of that name */
        { "bob:", "1000:1000 bob /home/bob [1000,44,63] p" },
        { "nohome", "1002:1002 nohome / [1002] p" },
        { "relative", "1003:1003 relative / [1003] p" },
        { "last", "1004:1004 last /home/last [1004] p" },
        { "1000:short", "1000:45 bob /home/bob [45] px" },
};

static char *describe(const UserIdentity *user) {
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "%u:%u %s %s [", user->uid, user->gid, user->name ?: "-", user->home);
        for (guint i = 0; i < user->additional_gids->len; i++)
                g_string_append_printf(text, "%s%u", i ? "," : "", g_array_index(user->additional_gids, gid_t, i));
        g_string_append_printf(text, "] %s%s", user->in_passwd ? "p" : "", user->explicit_group ? "x" : "");
        return g_string_free(text, FALSE);
}

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        g_auto(UserIdentity) user = { 0 };

        ck_assert_msg(user_resolve(good[_i].spec, PASSWD, GROUP, &user, &error), "%s", error ? error->message : "");

        g_autofree char *text = describe(&user);
        ck_assert_str_eq(text, good[_i].expected);
}
END_TEST

static const struct {
        const char *spec, *passwd, *group, *message;
} bad[] = {
        { "nobody", PASSWD, GROUP, "no user 'nobody'" },
        { "toor", PASSWD, GROUP, "no user 'toor'" }, /* a broken id must not become root's */
        { "broken", PASSWD, GROUP, "no user 'broken'" },
        { "# comment", PASSWD, GROUP, "blanks" },
        { "root", NULL, NULL, "no user 'root'" },
        { "root", "", "", "no user 'root'" },
        { "bob:nogroup", PASSWD, GROUP, "no group 'nogroup'" },
        { "bob:broken", PASSWD, GROUP, "no group 'broken'" },
        { "bob:video", PASSWD, NULL, "no group 'video'" },
        { "a:b:c", PASSWD, GROUP, "USER[:GROUP]" },
        { "4294967295", PASSWD, GROUP, "above" },
        { "0:4294967295", PASSWD, GROUP, "above" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        UserIdentity user = { .uid = 77 };

        ck_assert(!user_resolve(bad[_i].spec, bad[_i].passwd, bad[_i].group, &user, &error));
        expect_error(error, KT_ERROR_USAGE, bad[_i].message);
        ck_assert_uint_eq(user.uid, 77);
        ck_assert_ptr_null(user.additional_gids);
}
END_TEST

static const struct {
        const char *list, *message;
        const char *gids;
} groups[] = {
        { "video", NULL, "1000,44" },
        { "44", NULL, "1000,44" },
        { "bob", NULL, "1000" },   /* each once */
        { "77", NULL, "1000,77" }, /* a number need not be there */
        { "audio,0,77", NULL, "1000,63,0,77" },
        { "nogroup", "no group 'nogroup'", NULL },
        { "broken", "no group 'broken'", NULL },
        { "4294967295", "above", NULL },
};

START_TEST(test_add_groups) {
        g_auto(UserIdentity) user = { 0 };
        g_autoptr(GPtrArray) list = g_ptr_array_new();
        g_auto(GStrv) names = g_strsplit(groups[_i].list, ",", -1);
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL, *expected = NULL;

        ck_assert(user_resolve("bob:bob", PASSWD, GROUP, &user, NULL));
        for (char **name = names; *name; name++)
                g_ptr_array_add(list, *name);
        if (groups[_i].message) {
                ck_assert(!user_add_groups(&user, list, GROUP, &error));
                expect_error(error, KT_ERROR_USAGE, groups[_i].message);
                return;
        }
        ck_assert_msg(user_add_groups(&user, list, GROUP, &error), "%s", error ? error->message : "");
        text = describe(&user);
        expected = g_strdup_printf("1000:1000 bob /home/bob [%s] px", groups[_i].gids);
        ck_assert_str_eq(text, expected);
}
END_TEST

/* A root without passwd and group has no names, but ids. */
START_TEST(test_no_files) {
        g_auto(UserIdentity) user = { 0 }, other = { 0 };

        ck_assert(user_resolve(NULL, NULL, NULL, &user, NULL));
        g_autofree char *text = describe(&user);
        ck_assert_str_eq(text, "0:0 - / [] ");

        ck_assert(user_resolve("7:8", NULL, NULL, &other, NULL));
        g_autofree char *other_text = describe(&other);
        ck_assert_str_eq(other_text, "7:8 - / [8] x");
}
END_TEST

TEST_MAIN("user", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_add_groups, 0, G_N_ELEMENTS(groups));
        tcase_add_test(tcase, test_no_files);
})
