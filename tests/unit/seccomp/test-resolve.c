/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <ocispec/runtime_spec_schema_config_linux.h>
#include <seccomp.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/resolve.h"
#include "tests/unit/test-main.h"

typedef runtime_spec_schema_config_linux_seccomp Resolved;

static const char profile_text[] =
        "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 38, \"archMap\": ["
        "{\"architecture\": \"SCMP_ARCH_X86_64\", \"subArchitectures\": [\"SCMP_ARCH_X86\", \"SCMP_ARCH_X32\"]}], "
        "\"syscalls\": ["
        "{\"names\": [\"read\", \"write\", \"no_such_call\"], \"action\": \"SCMP_ACT_ALLOW\"}, "
        "{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {\"caps\": [\"CAP_BPF\"]}}, "
        "{\"names\": [\"bpf\"], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 1, "
        "\"excludes\": {\"caps\": [\"CAP_BPF\"]}}, "
        "{\"names\": [\"ptrace\"], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": {\"minKernel\": \"4.8\"}}, "
        "{\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": ["
        "{\"index\": 0, \"value\": 2114060288, \"valueTwo\": 7, \"op\": \"SCMP_CMP_MASKED_EQ\"}]}, "
        "{\"names\": [\"personality\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": ["
        "{\"index\": 0, \"value\": 8, \"op\": \"SCMP_CMP_EQ\"}, "
        "{\"index\": 0, \"value\": 4294967296, \"op\": \"SCMP_CMP_GT\"}]}, "
        "{\"names\": [\"socket\"], \"action\": \"SCMP_ACT_TRAP\", \"args\": ["
        "{\"index\": 1, \"value\": 1, \"op\": \"SCMP_CMP_NE\"}]}, "
        "{\"names\": [\"kexec_load\"], \"action\": \"SCMP_ACT_KILL\"}, "
        "{\"names\": [\"acct\"], \"action\": \"SCMP_ACT_LOG\", \"excludes\": {\"arches\": [\"arm64\"]}}]}";

static char *print(const Resolved *resolved) {
        const struct parser_context context = { .options = OPT_GEN_SIMPLIFY };
        yajl_gen generator = yajl_gen_alloc(NULL);
        parser_error message = NULL;
        const unsigned char *text;
        char *result;
        size_t length;

        ck_assert_int_eq(gen_runtime_spec_schema_config_linux_seccomp(generator, resolved, &context, &message),
                         yajl_gen_status_ok);
        yajl_gen_get_buf(generator, &text, &length);
        result = g_strndup((const char *) text, length);
        yajl_gen_free(generator);
        return result;
}

/* The filter of what a runtime is given is that of the profile: byte for byte, as the format is a subset. */
static void compare(const char *text, guint64 capabilities) {
        SeccompTarget target = seccomp_target_here(capabilities);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), &error);
        Resolved *resolved = profile ? seccomp_profile_resolve(profile, &target, &error) : NULL;
        SeccompTarget none = { .arch = target.arch };

        ck_assert_msg(resolved, "%s", error ? error->message : "");
        g_autofree char *json = print(resolved);
        g_autoptr(SeccompProfile) again = seccomp_profile_parse(json, strlen(json), &error);
        g_autoptr(GBytes) wanted = seccomp_filter_compile(profile, &target, NULL);
        g_autoptr(GBytes) made = again ? seccomp_filter_compile(again, &none, &error) : NULL;

        ck_assert_msg(made, "%s: %.2000s", error ? error->message : "", json);
        ck_assert_msg(wanted && g_bytes_equal(wanted, made), "another filter: %.2000s", json);
        ck_assert_msg(!strstr(json, "\"caps\"") && !strstr(json, "minKernel"), "conditions are left: %.2000s", json);
        free_runtime_spec_schema_config_linux_seccomp(resolved);
}

static const guint64 capabilities[] = { 0, G_GUINT64_CONSTANT(1) << 39, G_MAXUINT64 >> 23 };

START_TEST(test_profile) {
        compare(profile_text, capabilities[_i]);
}
END_TEST

/* The one that Podman ships, where it is installed: the tests that boot machines need it. */
START_TEST(test_default) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;

        ck_assert_msg(g_file_get_contents("/usr/share/containers/seccomp.json", &text, NULL, &error), "%s",
                      error ? error->message : "");
        compare(text, capabilities[_i]);
}
END_TEST

START_TEST(test_notify) {
        static const char text[] = "{\"defaultAction\": \"SCMP_ACT_NOTIFY\", \"syscalls\": []}";
        SeccompTarget target = seccomp_target_here(0);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), NULL);

        ck_assert(profile && !seccomp_profile_resolve(profile, &target, &error));
        ck_assert_str_ne(error->message, "");
}
END_TEST

TEST_MAIN("resolve", {
        tcase_add_loop_test(tcase, test_profile, 0, G_N_ELEMENTS(capabilities));
        tcase_add_loop_test(tcase, test_default, 0, G_N_ELEMENTS(capabilities));
        tcase_add_test(tcase, test_notify);
})
