/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>

#include "libstart/seccomp/profile.h"
#include "tests/unit/test-main.h"

#define RULE(text) "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [" text "]}"
#define DEFAULT(text) "{\"defaultAction\": \"SCMP_ACT_ALLOW\", " text "}"

/* What must not be taken for a profile, and the whole of what is said then. */
static const struct {
        const char *text;
        const char *message;
} refused[] = {
        { "", "line 1: not JSON: parse error: premature EOF" },
        { "{\n\"defaultAction\": \"SCMP_ACT_ERRNO\",\n}", NULL },
        { "{\n\"defaultAction\": \"SCMP_ACT_ERRNO\"\n", NULL },
        { "[]", "an object is wanted here" },
        { "{}", "neither 'defaultAction' nor 'syscalls' are there; a container without a filter is spelt "
                "seccomp=unconfined" },
        { "{\"syscalls\": [{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ALLOW\"}]}", "'defaultAction' is missing" },
        { "{\"defaultAction\": 1}", "defaultAction: a string is wanted here" },
        { "{\"defaultAction\": \"ALLOW\"}",
          "'defaultAction': 'ALLOW' is no action; SCMP_ACT_ALLOW and SCMP_ACT_ERRNO are two" },
        { "{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"defaultaction\": \"SCMP_ACT_KILL\"}",
          "an object has the key 'defaultaction' twice (upper and lower case are the same for Go's programs)" },
        { DEFAULT("\"defaultErrnoRet\": 1"), "an errno is given, and 'SCMP_ACT_ALLOW' returns none" },
        { DEFAULT("\"sycalls\": []"), "unknown key 'sycalls'" },
        { DEFAULT("\"syscalls\": {}"), "syscalls: an array is wanted here" },
        { DEFAULT("\"architectures\": [\"SCMP_ARCH_X86\"], \"archMap\": [{\"architecture\": "
                  "\"SCMP_ARCH_X86_64\"}]"),
          "both 'architectures' and 'archMap' are given, one is enough" },
        { DEFAULT("\"archMap\": [{\"subArchitectures\": []}]"), "archMap[0]: 'architecture' is missing" },
        { DEFAULT("\"flags\": [\"SECCOMP_FILTER_FLAG_LOG\"]"),
          "flags[0]: keyturn cannot load a filter with 'SECCOMP_FILTER_FLAG_LOG': remove it" },
        { DEFAULT("\"flags\": [\"SECCOMP_FILTER_FLAG_TSYNC\"]"),
          "flags: keyturn loads filters with SECCOMP_FILTER_FLAG_SPEC_ALLOW, which is not listed: "
          "add it, or remove "
          "the key" },
        { DEFAULT("\"listenerPath\": \"/run/socket\""),
          "listenerPath: keyturn has no listeners for seccomp: remove the key, or start this "
          "container with podman" },
        { RULE("7"), "syscalls[0]: an object is wanted here" },
        { RULE("{\"action\": \"SCMP_ACT_ALLOW\"}"), "syscalls[0]: 'names' is missing" },
        { RULE("{\"names\": [\"read\"]}"), "syscalls[0]: 'action' is missing (rule of 'read')" },
        { RULE("{\"names\": [\"read\"], \"name\": \"write\", \"action\": \"SCMP_ACT_ALLOW\"}"),
          "syscalls[0]: both 'name' and 'names' are given, one is enough (rule of 'read')" },
        { RULE("{\"names\": [\"read\", 3], \"action\": \"SCMP_ACT_ALLOW\"}"),
          "syscalls[0].names[1]: a string is wanted here (rule of 'read')" },
        { RULE("{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ALLOW\", \"errnoRet\": 1}"),
          "syscalls[0]: an errno is given, and 'SCMP_ACT_ALLOW' returns none (rule of 'read')" },
        { RULE("{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 65536}"),
          "syscalls[0].errnoRet: 65536 is no whole number from 0 to 65535 (rule of 'read')" },
        { RULE("{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ERRNO\", \"errno\": \"EWHAT\"}"),
          "syscalls[0]: 'EWHAT' is no errno; names are as in errno(3) (rule of 'read')" },
        { RULE("{\"names\": [\"read\"], \"action\": \"SCMP_ACT_ALLOW\"}, "
               "{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"index\": 6, \"op\": "
               "\"SCMP_CMP_EQ\"}]}"),
          "syscalls[1].args[0].index: 6 is no whole number from 0 to 5 (rule of 'clone')" },
        { RULE("{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"index\": 0}]}"),
          "syscalls[0].args[0]: 'op' is missing (rule of 'clone')" },
        { RULE("{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"op\": \"==\"}]}"),
          "syscalls[0].args[0].op: '==' is no comparison; there are SCMP_CMP_NE, LT, LE, EQ, GE, GT "
          "and MASKED_EQ "
          "(rule of 'clone')" },
        { RULE("{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"value\": -1, \"op\": "
               "\"SCMP_CMP_EQ\"}]}"),
          "syscalls[0].args[0].value: -1 is no whole number from 0 to 18446744073709551615 (rule of "
          "'clone')" },
        { RULE("{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"value\": "
               "18446744073709551616, \"op\": \"SCMP_CMP_EQ\"}]}"),
          NULL },
        { RULE("{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [{\"value\": "
               "1.0, \"op\": "
               "\"SCMP_CMP_EQ\"}]}"),
          "syscalls[0].args[0].value: 1.0 is no whole number from 0 to 18446744073709551615 (rule "
          "of 'clone')" },
        { RULE("{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {\"caps\": "
               "[\"SYS_ADMIN\"]}}"),
          "syscalls[0].includes.caps[0]: 'SYS_ADMIN' is no capability; they are spelt CAP_SYS_ADMIN "
          "(rule of 'bpf')" },
        { RULE("{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ALLOW\", \"exclude\": {\"caps\": "
               "[\"CAP_BPF\"]}}"),
          "syscalls[0]: unknown key 'exclude' (rule of 'bpf')" },
        { RULE("{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": "
               "{\"minKernel\": \"5\"}}"),
          "syscalls[0].includes.minKernel: '5' is no kernel version; they look like 5.10 (rule of 'bpf')" },
};

START_TEST(test_refused) {
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(refused[_i].text, strlen(refused[_i].text), &error);

        ck_assert_ptr_null(profile);
        ck_assert_ptr_nonnull(error);
        if (refused[_i].message)
                ck_assert_str_eq(error->message, refused[_i].message);
}
END_TEST

START_TEST(test_syntax_error_names_the_line) {
        const char *text = "{\n\"defaultAction\": \"SCMP_ACT_ERRNO\",\n\"syscalls\": [}\n";
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(seccomp_profile_parse(text, strlen(text), &error));
        ck_assert_msg(g_str_has_prefix(error->message, "line 3: not JSON: "), "%s", error->message);
}
END_TEST

START_TEST(test_deep_nesting) {
        g_autofree char *deep = g_strnfill(200000, '[');
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(seccomp_profile_parse(deep, 200000, &error));
        ck_assert_str_eq(error->message, "nested more than 32 levels deep");
}
END_TEST

START_TEST(test_too_large) {
        g_autofree char *large = g_strnfill(SECCOMP_PROFILE_MAX_BYTES + 1, ' ');
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(seccomp_profile_parse(large, SECCOMP_PROFILE_MAX_BYTES + 1, &error));
        ck_assert_str_eq(error->message, "larger than 1048576 bytes");
}
END_TEST

START_TEST(test_nul_byte) {
        const char text[] = "{\"defaultAction\": \"SCMP_ACT_ERRNO\"}\0{";
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(seccomp_profile_parse(text, sizeof text - 1, &error));
        ck_assert_str_eq(error->message, "not JSON: it holds a NUL byte");
}
END_TEST

/* Every spelling of a default action, and what the filter then returns. */
static const struct {
        const char *text;
        guint32 action;
} default_actions[] = {
        { "\"defaultAction\": \"SCMP_ACT_ALLOW\"", SECCOMP_RET_ALLOW },
        { "\"defaultAction\": \"SCMP_ACT_KILL\"", SECCOMP_RET_KILL_THREAD },
        { "\"defaultAction\": \"SCMP_ACT_KILL_THREAD\"", SECCOMP_RET_KILL_THREAD },
        { "\"defaultAction\": \"SCMP_ACT_KILL_PROCESS\"", SECCOMP_RET_KILL_PROCESS },
        { "\"defaultAction\": \"SCMP_ACT_LOG\"", SECCOMP_RET_LOG },
        { "\"defaultAction\": \"SCMP_ACT_TRAP\"", SECCOMP_RET_TRAP },
        { "\"defaultAction\": \"SCMP_ACT_TRACE\"", SECCOMP_RET_TRACE | EPERM },
        { "\"defaultAction\": \"SCMP_ACT_TRACE\", \"defaultErrnoRet\": 7", SECCOMP_RET_TRACE | 7 },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\"", SECCOMP_RET_ERRNO | EPERM },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 0", SECCOMP_RET_ERRNO },
        { "\"defaultErrnoRet\": 38, \"defaultAction\": \"SCMP_ACT_ERRNO\"", SECCOMP_RET_ERRNO | ENOSYS },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrno\": \"ENOSYS\", \"defaultErrnoRet\": 1",
          SECCOMP_RET_ERRNO | ENOSYS },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrno\": \"13\"", SECCOMP_RET_ERRNO | EACCES },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrno\": \"EWOULDBLOCK\"", SECCOMP_RET_ERRNO | EAGAIN },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrno\": \"EOPNOTSUPP\"", SECCOMP_RET_ERRNO | EOPNOTSUPP },
        { "\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrno\": \"\", \"defaultErrnoRet\": null",
          SECCOMP_RET_ERRNO | EPERM },
        { "\"DEFAULTACTION\": \"SCMP_ACT_ERRNO\", \"_why\": {\"any\": 1}, \"comment\": \"x\"",
          SECCOMP_RET_ERRNO | EPERM },
};

START_TEST(test_default_action) {
        g_autofree char *text = g_strdup_printf("{%s}", default_actions[_i].text);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), &error);

        ck_assert_msg(profile, "%s: %s", text, error ? error->message : "");
        ck_assert_uint_eq(profile->default_action, default_actions[_i].action);
}
END_TEST

START_TEST(test_whole_rule) {
        const char *text = RULE("{\"names\": [\"clone\", \"clone3\"], \"action\": \"SCMP_ACT_ALLOW\", "
                                "\"args\": [{\"index\": 5, \"value\": 18446744073709551615, \"valueTwo\": 2, "
                                "\"op\": \"SCMP_CMP_MASKED_EQ\"}], \"comment\": \"\", "
                                "\"includes\": {\"caps\": [\"CAP_CHOWN\", \"CAP_BPF\"], \"minKernel\": \"4.8\"}, "
                                "\"excludes\": {\"arches\": [\"s390\", \"s390x\"]}}");
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), NULL);
        ck_assert_ptr_nonnull(profile);
        const SeccompRule *rule = profile->rules->pdata[0];
        const SeccompArgument *argument = &g_array_index(rule->arguments, SeccompArgument, 0);

        ck_assert_uint_eq(rule->names->len, 2);
        ck_assert_str_eq(rule->names->pdata[1], "clone3");
        ck_assert_uint_eq(rule->action, SECCOMP_RET_ALLOW);
        ck_assert_uint_eq(argument->index, 5);
        ck_assert(argument->value == G_MAXUINT64 && argument->value2 == 2);
        ck_assert_uint_eq(rule->includes.caps, G_GUINT64_CONSTANT(1) << 39 | 1);
        ck_assert_uint_eq(rule->includes.min_kernel, seccomp_kernel_version(4, 8));
        ck_assert_uint_eq(rule->excludes.arches->len, 2);
        ck_assert(profile->asks_kernel);
}
END_TEST

TEST_MAIN("profile", {
        tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(refused));
        tcase_add_test(tcase, test_syntax_error_names_the_line);
        tcase_add_test(tcase, test_deep_nesting);
        tcase_add_test(tcase, test_too_large);
        tcase_add_test(tcase, test_nul_byte);
        tcase_add_loop_test(tcase, test_default_action, 0, G_N_ELEMENTS(default_actions));
        tcase_add_test(tcase, test_whole_rule);
})
