/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/userns/user-record.h"
#include "tests/unit/test-main.h"

#define PASSWD "root:x:0:0::/root:/bin/sh\n"
#define GROUP "root:x:0:\nvideo:x:44:bob\n"

static const struct {
        const char *record, *passwd, *group;
} good[] = {
        { "{\"userName\":\"carol\",\"uid\":1300}", PASSWD "\ncarol:x:1300:1300:::", GROUP },
        { "{\"userName\":\"carol\",\"uid\":1300,\"gid\":44,\"privileged\":{\"hashedPassword\":[\"x\"]},"
          "\"x\":{\"uid\":1}}",
          PASSWD "\ncarol:x:1300:44:::", GROUP },
        { "{\"userName\":\"carol\",\"uid\":1300,\"homeDirectory\":\"/home/c\"}",
          PASSWD "\ncarol:x:1300:1300::/home/c:", GROUP },
        { "{\"userName\":\"carol\",\"uid\":1300,\"homeDirectory\":\"/a:/bin/sh\\nx:x:0:0:::\"}",
          PASSWD "\ncarol:x:1300:1300:::", GROUP },
        { "{\"userName\":\"carol\",\"uid\":1300,\"memberOf\":[\"video\",\"none\",7,\"a:b\",\"\"]}",
          PASSWD "\ncarol:x:1300:1300:::", GROUP "\nvideo:x:44:carol" },
};

START_TEST(test_good) {
        g_autofree char *passwd = g_strdup(PASSWD), *group = g_strdup(GROUP);

        ck_assert(user_record_append(good[_i].record, strlen(good[_i].record), &passwd, &group, NULL));
        ck_assert_str_eq(passwd, good[_i].passwd);
        ck_assert_str_eq(group, good[_i].group);
}
END_TEST

static const struct {
        const char *record, *message;
} bad[] = {
        { "", "not JSON" },
        { "[]", "no userName" },
        { "{\"uid\":1300}", "no userName" },
        { "{\"userName\":7,\"uid\":1300}", "no userName" },
        { "{\"userName\":\"\",\"uid\":1300}", "no userName" },
        { "{\"userName\":\"carol:x:0:0:::\\nmallory\",\"uid\":1300}", "no userName" },
        { "{\"userName\":\"carol\"}", "no uid" },
        { "{\"userName\":\"carol\",\"uid\":\"1300\"}", "no uid" },
        { "{\"userName\":\"carol\",\"uid\":-1}", "" },
        { "{\"userName\":\"carol\",\"uid\":4294967295}", "" },
        { "{\"userName\":\"carol\",\"uid\":1300,\"gid\":1e3}", "" },
        { "{\"userName\":\"carol\",\"uid\":1300,\"UID\":0}", "" },
        { "{\"userName\":\"carol\",\"uid\":1300,\"uid\":0}", "" },
};

/* What is refused adds nothing. */
START_TEST(test_bad) {
        g_autofree char *passwd = g_strdup(PASSWD), *group = g_strdup(GROUP);
        g_autoptr(GError) error = NULL;

        ck_assert(!user_record_append(bad[_i].record, strlen(bad[_i].record), &passwd, &group, &error));
        ck_assert_msg(strstr(error->message, bad[_i].message), "%s", error->message);
        ck_assert_str_eq(passwd, PASSWD);
        ck_assert_str_eq(group, GROUP);
}
END_TEST

START_TEST(test_no_files_of_others) {
        static const char *const names[] = { "../../etc/carol", "/etc/carol", "..", ".carol", "" };
        g_autofree char *passwd = NULL, *group = NULL;

        ck_assert(user_record_add("", names[_i], &passwd, &group, NULL));
        ck_assert_ptr_null(passwd);
}
END_TEST

TEST_MAIN("userns/user-record", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_no_files_of_others, 0, 5);
})
