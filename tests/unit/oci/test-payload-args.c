/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/payload-args.h"
#include "tests/unit/oci/facts.h"

#define ENTRY ((char **) WORDS("/entry", "e"))
#define CMD ((char **) WORDS("cmd", "c d"))

/* Those marked podman were compared with Podman 5.4.2. */
static const struct {
        const char *const *words;
        char **entrypoint, **cmd;
        const char *expected; /* NULL: there is nothing to run */
} rows[] = {
        { WORDS("i"), ENTRY, CMD, "[/entry][e][cmd][c d]" },
        { WORDS("i", "x", ""), ENTRY, CMD, "[/entry][e][x][]" },
        { WORDS("i"), NULL, CMD, "[cmd][c d]" }, /* podman */
        { WORDS("i", "x"), NULL, CMD, "[x]" },   /* podman */
        { WORDS("i"), ENTRY, NULL, "[/entry][e]" },
        { WORDS("i"), NULL, NULL, NULL },
        { WORDS("--entrypoint=/new", "i"), ENTRY, CMD, "[/new]" },
        { WORDS("--entrypoint=/new", "i", "x"), ENTRY, CMD, "[/new][x]" },
        { WORDS("--entrypoint=top -b", "i"), ENTRY, CMD, "[top -b]" },                  /* podman */
        { WORDS("--entrypoint=[\"a\",\"b c\"]", "i", "x"), ENTRY, CMD, "[a][b c][x]" }, /* podman */
        { WORDS("--entrypoint= [ \"a\" ] ", "i"), ENTRY, CMD, "[a]" },
        { WORDS("--entrypoint=[]", "i"), ENTRY, CMD, "[cmd][c d]" }, /* podman */
        { WORDS("--entrypoint=", "i", "x"), ENTRY, CMD, "[x]" },
        { WORDS("--entrypoint=", "i"), ENTRY, CMD, NULL },       /* podman: there is no command '' */
        { WORDS("--entrypoint=[\"\"]", "i"), ENTRY, CMD, NULL }, /* podman */
        { WORDS("--entrypoint=[\"\"]", "i", "x"), ENTRY, CMD, "[x]" },
        { WORDS("--entrypoint=[not json", "i"), ENTRY, CMD, "[[not json]" },
        { WORDS("--entrypoint={\"a\":1}", "i"), ENTRY, CMD, "[{\"a\":1}]" },
        { WORDS("--entrypoint=5", "i"), ENTRY, CMD, "[5]" },
        { WORDS("--init", "i"), ENTRY, CMD, "[/run/podman-init][--][/entry][e][cmd][c d]" },
        { WORDS("--init", "--entrypoint=[\"\"]", "i", "x"), ENTRY, CMD, "[/run/podman-init][--][x]" },
        { WORDS("--init", "i"), NULL, NULL, NULL },
        { WORDS("--entrypoint=[\"\\u00e4\\n\"]", "i"), ENTRY, CMD, "[\303\244\n]" },
};

START_TEST(test_rows) {
        const ImageConfig image = { .entrypoint = rows[_i].entrypoint, .cmd = rows[_i].cmd };
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = read_words(rows[_i].words);
        g_auto(GStrv) words = payload_args_build(&asked.request, &image, &error);

        if (rows[_i].expected)
                expect_list(words, rows[_i].expected);
        else
                expect_error(error, KT_ERROR_NOT_FOUND, "nothing to run");
}
END_TEST

START_TEST(test_bad_array) {
        const ImageConfig image = { 0 };
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = read_words(WORDS("--entrypoint=[\"a\",1]", "i"));

        ck_assert_ptr_null(payload_args_build(&asked.request, &image, &error));
        expect_error(error, KT_ERROR_USAGE, "'[\"a\",1]'");
}
END_TEST

TEST_MAIN("payload-args", {
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_bad_array);
})
