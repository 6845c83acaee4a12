/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/hook/hook-match.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/option/read-words.h"

static const struct {
        const char *when;
        const char *const *annotations;
        const char *command;
        bool has_bind_mounts, is_unexpanded, expected;
} rows[] = {
        { "", WORDS(NULL), "sh", .expected = false },
        { "\"always\":true", WORDS(NULL), "sh", .expected = true },
        { "\"always\":false", WORDS(NULL), "sh", .expected = false },
        { "\"always\":false,\"commands\":[\"sh\"]", WORDS(NULL), "sh", .expected = false },
        { "\"hasBindMounts\":true", WORDS(NULL), "sh", .expected = false },
        { "\"hasBindMounts\":true", WORDS(NULL), "sh", .has_bind_mounts = true, .expected = true },
        { "\"hasBindMounts\":false", WORDS(NULL), "sh", .expected = false },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("a.b=true"), "sh", .expected = true },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("a.b=true\n"), "sh", .expected = false },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("axb=true"), "sh", .expected = false },
        { "\"annotations\":{\"^a\\\\.\":\"^(true|1)$\"}", WORDS("a.b=no", "a.c=1"), "sh", .expected = true },
        { "\"annotations\":{\"a\":\"b\"}", WORDS("xax=xbx"), "sh", .expected = true },
        { "\"annotations\":{\"a\":\"\"}", WORDS("a"), "sh", .expected = true },
        { "\"annotations\":{\"a\":\"1\",\"b\":\"2\"}", WORDS("a=1"), "sh", .expected = false },
        { "\"annotations\":{\"a\":\"1\",\"b\":\"2\"}", WORDS("a=1", "b=2"), "sh", .expected = true },
        { "\"commands\":[\"^/bin/\",\"sh$\"]", WORDS(NULL), "bash", .expected = true },
        { "\"commands\":[\"^/bin/\"]", WORDS(NULL), "bash", .expected = false },
        { "\"always\":true,\"commands\":[\"x\"]", WORDS(NULL), "sh", .expected = false },
        /* what is not known yet */
        { "\"commands\":[\"x\"]", WORDS(NULL), NULL, .is_unexpanded = true, .expected = true },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=%i"), NULL, .is_unexpanded = true, .expected = true },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=$X"), NULL, .is_unexpanded = true, .expected = true },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("b=%i"), NULL, .is_unexpanded = true, .expected = false },
        { "\"annotations\":{\"a\":\"1\"}", WORDS("a=%i"), "sh", .expected = false },
        { "\"annotations\":{\"a\":\"1\"},\"commands\":[\"x\"]", WORDS("a=2"), NULL, .is_unexpanded = true,
          .expected = false },
};

START_TEST(test_match) {
        g_autofree char *text = g_strdup_printf("{\"version\":\"1.0.0\",\"hook\":{\"path\":\"/x\"},"
                                                "\"stages\":[\"prestart\"],\"when\":{%s}}",
                                                rows[_i].when);
        g_autoptr(GError) error = NULL;
        g_autoptr(HookFile) file = hook_file_parse(text, strlen(text), &error);
        const GPtrArray annotations = { .pdata = (void **) rows[_i].annotations,
                                        .len = g_strv_length((char **) rows[_i].annotations) };
        const HookTarget target = { .annotations = &annotations,
                                    .command = rows[_i].command,
                                    .has_bind_mounts = rows[_i].has_bind_mounts,
                                    .is_unexpanded = rows[_i].is_unexpanded };

        ck_assert_msg(file, "%s", error ? error->message : "");
        ck_assert_msg(hook_file_matches(file, &target) == rows[_i].expected, "%s", text);
}
END_TEST

TEST_MAIN("hook-match", { tcase_add_loop_test(tcase, test_match, 0, G_N_ELEMENTS(rows)); })
