/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/copy/commands.h"
#include "tests/unit/ctl/print-command.h"

static const struct {
        const char *words[4];
        const char *limit;
        int code;
        const char *error;
} calls[] = {
        { { NULL }, NULL, KT_ERROR_USAGE, "'cp' takes SOURCE and DEST" },
        { { "web:/a" }, NULL, KT_ERROR_USAGE, "'cp' takes SOURCE and DEST" },
        { { "web:/a", "b", "c" }, NULL, KT_ERROR_USAGE, "'cp' takes SOURCE and DEST" },
        { { "a", "b" }, NULL, KT_ERROR_USAGE, "Neither 'a' nor 'b' is NAME:PATH" },
        { { "/a:b", "./web:/b" }, NULL, KT_ERROR_USAGE, "Neither '/a:b' nor './web:/b' is NAME:PATH" },
        { { ".web:/a", "../web:/b" }, NULL, KT_ERROR_USAGE, "Neither " },
        { { "a/b:c", "web/b:/c" }, NULL, KT_ERROR_USAGE, "Neither 'a/b:c' nor 'web/b:/c' is NAME:PATH" },
        { { "", "web:/b" }, NULL, KT_ERROR_USAGE, "'' is no path" },
        { { "web:", "b" }, NULL, KT_ERROR_USAGE, "'web:' is no path" },
        { { "-", "web:/b" }, NULL, KT_ERROR_USAGE, "keyturnctl exec NAME cat" },
        { { "a", "-" }, NULL, KT_ERROR_USAGE, "'-' is no path" },
        { { "gone:/a", "b" }, NULL, KT_ERROR_NOT_FOUND, "There is no container 'gone'" },
        { { ":/a", "b" }, NULL, KT_ERROR_NOT_FOUND, "There is no container ''" },
        { { "a", "shop-pod:/b" }, NULL, KT_ERROR_NOT_FOUND, "of pods, see keyturnctl pods" },
        { { "web:/a", "b" }, NULL, KT_ERROR_FAILED, "web.service is not running" },
        { { "b", "web.service:/a:b" }, NULL, KT_ERROR_FAILED, "web.service is not running" },
        { { "web:a/b:c", "b" }, NULL, KT_ERROR_FAILED, "web.service is not running" },
        { { "web:/a", "b" }, "1Q", KT_ERROR_USAGE, "1Q" },
        { { "web:/a", "b" }, "-1", KT_ERROR_USAGE, "-1" },
        { { "web:/a", "b" }, "1G", KT_ERROR_FAILED, "web.service is not running" },
};

START_TEST(test_words) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autoptr(GError) error = NULL;
        const Options options = { .limit = (char *) calls[_i].limit };

        add_container(all, "web.service", "--name=web|i");
        ck_assert_int_eq(command_copy(all, &options, (char **) calls[_i].words, &error), -1);
        expect_error(error, calls[_i].code, calls[_i].error);
}
END_TEST

TEST_MAIN("ctl/copy", { tcase_add_loop_test(tcase, test_words, 0, G_N_ELEMENTS(calls)); })
