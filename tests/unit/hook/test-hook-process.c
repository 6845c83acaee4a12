/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>

#include "libstart/hook/hook-process.h"
#include "tests/unit/base/expect-error.h"

static bool run(const char *script, char **ret_output, GError **error) {
        char *words[] = { (char *) "sh", (char *) "-c", (char *) script, NULL };
        runtime_spec_schema_defs_hook hook = { .path = (char *) "/bin/sh", .args = words, .args_len = 3 };

        return hook_process_run(&hook, "/", "input", ret_output, error);
}

START_TEST(test_ends) {
        g_autoptr(GError) error = NULL;
        g_autofree char *output = NULL;

        ck_assert(run("cat", &output, &error));
        ck_assert_str_eq(output, "input");
        ck_assert(!run("echo because >&2; exit 3", NULL, &error));
        expect_error(error, KT_ERROR_FAILED, "failed with status 3: because");
}
END_TEST

/* As where the caller ignores SIGCHLD: the kernel tells nobody how a process has ended. */
START_TEST(test_unknown_end) {
        g_autoptr(GError) error = NULL;

        (void) signal(SIGCHLD, SIG_IGN);
        ck_assert(!run("exit 0", NULL, &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot wait for the hook '/bin/sh': No child processes");
}
END_TEST

TEST_MAIN("hook/hook-process", {
        tcase_add_test(tcase, test_ends);
        tcase_add_test(tcase, test_unknown_end);
})
