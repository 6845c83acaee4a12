/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/hook/hook-match.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/request/read-words.h"

static const struct {
        const char *when;
        const char *const *annotations;
        const char *command;
        bool has_bind_mounts, is_unexpanded;
        HookAnswer expected;
} rows[] = {
        { "", WORDS(NULL), "sh", .expected = HOOK_NO },
        { "\"always\":true", WORDS(NULL), "sh", .expected = HOOK_YES },
        { "\"always\":false", WORDS(NULL), "sh", .expected = HOOK_NO },
        { "\"always\":false,\"commands\":[\"sh\"]", WORDS(NULL), "sh", .expected = HOOK_NO },
        { "\"hasBindMounts\":true", WORDS(NULL), "sh", .expected = HOOK_NO },
        { "\"hasBindMounts\":true", WORDS(NULL), "sh", .has_bind_mounts = true, .expected = HOOK_YES },
        { "\"hasBindMounts\":false", WORDS(NULL), "sh", .expected = HOOK_NO },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("a.b=true"), "sh", .expected = HOOK_YES },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("a.b=true\n"), "sh", .expected = HOOK_NO },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("axb=true"), "sh", .expected = HOOK_NO },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("a.b=no", "a.c=1"), "sh", .expected = HOOK_YES },
        { "\"annotations\":{\"a\":\"b\"}", WORDS("xax=xbx"), "sh", .expected = HOOK_YES },
        { "\"annotations\":{\"a\":\"\"}", WORDS("a"), "sh", .expected = HOOK_YES },
        { "\"annotations\":{\"a\":\"1\",\"b\":\"2\"}", WORDS("a=1"), "sh", .expected = HOOK_NO },
        { "\"annotations\":{\"a\":\"1\",\"b\":\"2\"}", WORDS("a=1", "b=2"), "sh", .expected = HOOK_YES },
        { "\"commands\":[\"^/bin/\",\"sh$\"]", WORDS(NULL), "bash", .expected = HOOK_YES },
        { "\"commands\":[\"^/bin/\"]", WORDS(NULL), "bash", .expected = HOOK_NO },
        { "\"always\":true,\"commands\":[\"x\"]", WORDS(NULL), "sh", .expected = HOOK_NO },
        /* what is not known yet */
        { "\"commands\":[\"x\"]", WORDS(NULL), NULL, .is_unexpanded = true, .expected = HOOK_MAYBE },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=%i"), NULL, .is_unexpanded = true, .expected = HOOK_MAYBE },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=$X"), NULL, .is_unexpanded = true, .expected = HOOK_MAYBE },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("b=%i"), NULL, .is_unexpanded = true, .expected = HOOK_NO },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=%i"), "sh", .expected = HOOK_NO },
        { "\"annotations\":{\"a\":\"1\"},\"commands\":[\"x\"]", WORDS("a=2"), NULL, .is_unexpanded = true,
          .expected = HOOK_NO },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=%i", "a=1"), NULL, .is_unexpanded = true, .expected = HOOK_YES },
        { "\"annotations\":{\"a\":\"1\"},\"commands\":[\"x\"]", WORDS("a=1"), NULL, .is_unexpanded = true,
          .expected = HOOK_MAYBE },
        { "\"commands\":[\"x\",\"s\"]", WORDS(NULL), "sh", .is_unexpanded = true, .expected = HOOK_YES },
        { "\"always\":true", WORDS(NULL), NULL, .is_unexpanded = true, .expected = HOOK_YES },
};

/* Transfer full. */
static char *make_text(const char *when) {
        return g_strdup_printf("{\"version\":\"1.0.0\",\"hook\":{\"path\":\"/x\"},"
                               "\"stages\":[\"prestart\"],\"when\":{%s}}",
                               when);
}

START_TEST(test_match) {
        g_autofree char *text = make_text(rows[_i].when);
        g_autoptr(GError) error = NULL;
        g_autoptr(HookFile) file = hook_file_parse(text, strlen(text), &error);
        const GPtrArray annotations = { .pdata = (void **) rows[_i].annotations,
                                        .len = g_strv_length((char **) rows[_i].annotations) };
        const HookTarget target = { .annotations = &annotations,
                                    .command = rows[_i].command,
                                    .has_bind_mounts = rows[_i].has_bind_mounts ? HOOK_YES : HOOK_NO,
                                    .is_unexpanded = rows[_i].is_unexpanded };

        ck_assert_msg(file, "%s", error ? error->message : "");
        ck_assert_msg(hook_file_check_patterns(file, &error), "%s", error ? error->message : "");
        ck_assert_msg(hook_file_match(file, &target) == rows[_i].expected, "%s", text);
}
END_TEST

static const char *const broken[][2] = {
        { "\"annotations\":{\"(\":\"\"}", "'(' is no regular expression" },
        { "\"annotations\":{\"a\":\"[\"}", "'[' is no regular expression" },
        { "\"commands\":[\"a\",\"*\"]", "'*' is no regular expression" },
};

START_TEST(test_broken) {
        g_autofree char *text = make_text(broken[_i][0]);
        g_autoptr(GPtrArray) annotations = g_ptr_array_new();
        const HookTarget target = { .annotations = annotations, .command = "*" };
        g_autoptr(GError) error = NULL;
        g_autoptr(HookFile) file = hook_file_parse(text, strlen(text), &error);

        ck_assert_msg(file, "%s", error ? error->message : "");
        ck_assert(!hook_file_check_patterns(file, &error));
        expect_error(error, KT_ERROR_FAILED, broken[_i][1]);
        ck_assert(hook_file_match(file, &target) == HOOK_NO);
}
END_TEST

TEST_MAIN("hook-match", {
        tcase_add_loop_test(tcase, test_match, 0, G_N_ELEMENTS(rows));
        tcase_add_loop_test(tcase, test_broken, 0, G_N_ELEMENTS(broken));
})
