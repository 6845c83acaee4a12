/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/hook/hook-file.h"
#include "tests/unit/base/parse-tests.h"

#define HOOK "\"version\":\"1.0.0\",\"hook\":{\"path\":\"/x\"}"
#define STAGES ",\"stages\":[\"prestart\"]"

static const GoodValue good[] = {
        { "{" HOOK ",\"when\":{\"always\":true}" STAGES "}", "/x [] - t 0 stages 2 annotations 0 commands 0" },
        { "{\"version\":\"1.0.0\",\"hook\":{\"path\":\"/x\",\"args\":[\"a\",\"b c\"],\"env\":[],\"timeout\":3},"
          "\"when\":{\"annotations\":{\"^a\":\"b$\"},\"commands\":[\"c\",\"d\"],\"hasBindMounts\":false},"
          "\"stages\":[\"precreate\",\"poststop\"]}",
          "/x [a|b c] env t 3 stages 65 annotations 1 commands 2" },
        { "{" HOOK ",\"stages\":[\"createRuntime\",\"createContainer\",\"startContainer\",\"poststart\"]}",
          "/x [] - t 0 stages 60 annotations 0 commands 0" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "not JSON" },
        { "[]", KT_ERROR_UNSUPPORTED, "it has no version" },
        { "{\"hook\":\"/x\",\"stages\":[\"prestart\"],\"cmds\":[]}", KT_ERROR_UNSUPPORTED, "0.1.0" },
        { "{\"version\":\"2.0.0\"}", KT_ERROR_UNSUPPORTED, ".version: '2.0.0' is not 1.0.0" },
        { "{" HOOK "}", KT_ERROR_FAILED, "it names no stages" },
        { "{" HOOK ",\"stages\":[]}", KT_ERROR_FAILED, "it names no stages" },
        { "{" HOOK ",\"stages\":[\"start\"]}", KT_ERROR_FAILED, ".stages[0]: 'start' is no stage" },
        { "{\"version\":\"1.0.0\"" STAGES "}", KT_ERROR_FAILED, "hook.path is missing" },
        { "{\"version\":\"1.0.0\",\"hook\":{\"path\":\"x\"}" STAGES "}", KT_ERROR_FAILED,
          ".hook.path: 'x' is not an absolute path" },
        { "{\"version\":\"1.0.0\",\"hook\":{\"path\":\"/x\",\"timeout\":-1}" STAGES "}", KT_ERROR_FAILED, "timeout" },
        { "{" HOOK STAGES ",\"when\":{\"always\":\"yes\"}}", KT_ERROR_FAILED,
          ".when.always: neither true nor false" },
        { "{" HOOK STAGES ",\"when\":{\"annotation\":{}}}", KT_ERROR_FAILED, "unknown key 'annotation'" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(HookFile) file = hook_file_parse(value, strlen(value), error);

        if (!file)
                return NULL;
        g_ptr_array_add(file->args, NULL);
        g_autofree char *args = g_strjoinv("|", (char **) file->args->pdata);
        return g_strdup_printf("%s [%s] %s t %d stages %u annotations %u commands %u", file->program, args,
                               file->has_env ? "env" : "-", (int) file->timeout, file->stages, file->annotations->len,
                               file->commands->len);
}

PARSE_TESTS(parse)

START_TEST(test_gone) {
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(hook_file_read("/no/hook.json", &error));
        expect_error(error, KT_ERROR_NOT_FOUND, "Hook '/no/hook.json' is gone since the unit was made");
}
END_TEST

TEST_MAIN("hook-file", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_gone);
})
