/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/security-option.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *value;
        SecurityOptionKind kind;
        bool enabled;
        const char *profile, *paths;
} good[] = {
        { "no-new-privileges", SECURITY_NO_NEW_PRIVILEGES, true, NULL },
        { "no-new-privileges=true", SECURITY_NO_NEW_PRIVILEGES, true, NULL },
        { "no-new-privileges:1", SECURITY_NO_NEW_PRIVILEGES, true, NULL },
        { "no-new-privileges=false", SECURITY_NO_NEW_PRIVILEGES, false, NULL },
        { "seccomp=unconfined", SECURITY_SECCOMP, false, NULL },
        { "seccomp:unconfined", SECURITY_SECCOMP, false, NULL },
        { "mask=/proc/x", SECURITY_MASK, false, NULL, "/proc/x" },
        { "mask=/a=b:/c:/d e", SECURITY_MASK, false, NULL, "/a=b:/c:/d e" },
        { "unmask=/proc/[^k]*:/proc/[a-k!]*", SECURITY_UNMASK, false, NULL, "/proc/[^k]*:/proc/[a-k!]*" },
        { "mask=/x[!]", SECURITY_MASK, false, NULL, "/x[!]" }, /* no pattern */
        { "unmask=ALL", SECURITY_UNMASK, false, NULL, "ALL" },
        { "unmask=/proc/*:all:/", SECURITY_UNMASK, false, NULL, "/proc/*:all:/" },
        { "seccomp=/etc/a=b:c.json", SECURITY_SECCOMP, true, "/etc/a=b:c.json" },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        SecurityOption option;

        ck_assert(security_option_parse(good[_i].value, &option, &error));
        ck_assert_int_eq(option.kind, good[_i].kind);
        ck_assert_int_eq(option.enabled, good[_i].enabled);
        ck_assert_pstr_eq(option.profile, good[_i].profile);
        ck_assert_pstr_eq(option.paths, good[_i].paths);
}
END_TEST

static const struct {
        const char *value;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "", KT_ERROR_UNSUPPORTED, "''" },
        { "no-new-privileges=", KT_ERROR_USAGE, "neither true nor false" },
        { "no-new-privileges=yes", KT_ERROR_USAGE, "'no-new-privileges=yes'" },
        { "no-new-privilege", KT_ERROR_UNSUPPORTED, "'no-new-privilege'" },
        { "seccomp", KT_ERROR_USAGE, "absolute path" },
        { "seccomp=", KT_ERROR_USAGE, "absolute path" },
        { "seccomp=profile.json", KT_ERROR_USAGE, "absolute path" },
        { "label=disable", KT_ERROR_UNSUPPORTED, "'label'" },
        { "apparmor=unconfined", KT_ERROR_UNSUPPORTED, "'apparmor'" },
        { "mask", KT_ERROR_USAGE, "the path is empty" },
        { "mask=", KT_ERROR_USAGE, "the path is empty" },
        { "mask=/a::/b", KT_ERROR_USAGE, "the path is empty" },
        { "mask=/a:b", KT_ERROR_USAGE, "'b' is not an absolute path" },
        { "mask=ALL", KT_ERROR_USAGE, "'ALL' is not an absolute path" },
        { "mask=/a:/b/..//", KT_ERROR_USAGE, "'/b/..//' is the whole container" },
        { "unmask=", KT_ERROR_USAGE, "the path is empty" },
        { "unmask=/proc/[!k]*", KT_ERROR_USAGE, "'[!' in the pattern '/proc/[!k]*' is not supported" },
        { "unmask=/x:/proc/[[:alpha:]]*", KT_ERROR_USAGE, "'[:' in the pattern" },
        { "unmask=/proc/[a[:alpha:]]*", KT_ERROR_USAGE, "'[:' in the pattern" },
        { "unmask=/proc/[[=k=]]core", KT_ERROR_USAGE, "'[=' in the pattern" },
        { "unmask=/proc/[[.k.]]core", KT_ERROR_USAGE, "'[.' in the pattern" },
        { "unmask=/proc/[]k]core", KT_ERROR_USAGE, "'[]' in the pattern" },
        { "unmask=/proc/[^]k]*", KT_ERROR_USAGE, "'[^]' in the pattern" },
        { "unmask=proc/*", KT_ERROR_USAGE, "'proc/*' is not an absolute path" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        SecurityOption option;

        ck_assert(!security_option_parse(bad[_i].value, &option, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

TEST_MAIN("security-option", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
