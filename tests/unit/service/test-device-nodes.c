/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libstart/service/device-nodes.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/request/read-words.h"

static char *describe(const GPtrArray *nodes) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < nodes->len; i++) {
                const DeviceNode *node = nodes->pdata[i];

                g_string_append_printf(text, "%s on %s %c %u:%u %s%s\n", node->source ?: "-", node->destination,
                                       node->type, node->major, node->minor, node->access,
                                       node->is_made ? " made" : "");
        }
        return g_string_free(text, FALSE);
}

static const struct {
        const char *const *words;
        const char *expected;
} good[] = {
        { WORDS("--device=/dev//null", "i"), "/dev/null on /dev/null c 1:3 rwm\n" },
        { WORDS("--device=/dev/null:/dev/x:r", "--device=-/dev/no-thing", "--device=/dev/zero:m", "i"),
          "/dev/null on /dev/x c 1:3 r\n/dev/zero on /dev/zero c 1:5 m\n" },
        { WORDS("--device=-/dev/no-thing/", "--device=-/dev/no/directory/:r", "i"), "" },
        { WORDS("i"), "" },
};

START_TEST(test_good) {
        g_auto(ReadWords) asked = read_words(good[_i].words);
        g_autoptr(GPtrArray) nodes = device_nodes_find(&asked.request, NULL);
        g_autofree char *text = NULL;

        ck_assert_ptr_nonnull(nodes);
        text = describe(nodes);
        ck_assert_str_eq(text, good[_i].expected);
}
END_TEST

/* /dev itself has directories, links, and file systems that are not its own. */
START_TEST(test_directory) {
        g_auto(ReadWords) asked = read_words(WORDS("--device=/dev/:/dev/all:r", "i"));
        g_autoptr(GPtrArray) nodes = device_nodes_find(&asked.request, NULL);
        g_autofree char *text = NULL;

        ck_assert_ptr_nonnull(nodes);
        text = describe(nodes);
        ck_assert_ptr_nonnull(strstr(text, "/dev/null on /dev/all/null c 1:3 r\n"));
        ck_assert_ptr_null(strstr(text, "/dev/pts/"));
        ck_assert_ptr_null(strstr(text, "/fd"));
}
END_TEST

START_TEST(test_all) {
        g_auto(ReadWords) asked = read_words(WORDS("--privileged", "i"));
        g_autoptr(GPtrArray) nodes = device_nodes_find(&asked.request, NULL);
        g_autofree char *text = NULL;

        ck_assert_ptr_nonnull(nodes);
        text = describe(nodes);
        ck_assert_ptr_nonnull(strstr(text, "- on /dev/null c 1:3 rwm made\n"));
        ck_assert_ptr_null(strstr(text, "/dev/console"));
        ck_assert_ptr_null(strstr(text, "/dev/ptmx"));
        ck_assert_ptr_null(strstr(text, "/dev/pts/"));
}
END_TEST

/* Nobody could open them there. */
START_TEST(test_all_in_a_user_namespace) {
        g_auto(ReadWords) asked = read_words(WORDS("--privileged", "--userns=auto", "--device=/dev/null", "i"));
        g_autoptr(GPtrArray) nodes = device_nodes_find(&asked.request, NULL);

        ck_assert_ptr_nonnull(nodes);
        ck_assert_uint_eq(nodes->len, 1);
}
END_TEST

static const struct {
        const char *option;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "--device=/dev/no-thing/x", KT_ERROR_NOT_FOUND,
          "BindsTo=dev-no\\x2dthing-x.device and After=dev-no\\x2dthing-x.device in [Unit]" },
        { "--device=/dev/no-thing", KT_ERROR_NOT_FOUND, "To do without it, name it '-/dev/no-thing'" },
        { "--device=/dev/noth_i.ng", KT_ERROR_NOT_FOUND, "=dev-noth_i.ng.device" },
        { "--device=/dev/null/x", KT_ERROR_FAILED, "'/dev/null/x'" },
        { "--device=/dev/fd", KT_ERROR_USAGE, "'/dev/fd' is a directory: name it '/dev/fd/', with a slash" },
        { "--device=/dev/fd/", KT_ERROR_NOT_FOUND, "There is no device in the directory '/dev/fd'" },
};

START_TEST(test_bad) {
        g_auto(ReadWords) asked = read_words(WORDS(bad[_i].option, "i"));
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(device_nodes_find(&asked.request, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

TEST_MAIN("device-nodes", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_test(tcase, test_directory);
        tcase_add_test(tcase, test_all);
        tcase_add_test(tcase, test_all_in_a_user_namespace);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
