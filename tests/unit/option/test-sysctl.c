/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/sysctl.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *value, *name;
        SysctlNamespace ns;
} good[] = {
        { "kernel.msgmax=1", "kernel.msgmax", SYSCTL_IPC },
        { "kernel.shm_rmid_forced=1", "kernel.shm_rmid_forced", SYSCTL_IPC },
        { "fs.mqueue.msg_max=5", "fs.mqueue.msg_max", SYSCTL_IPC },
        { "net.ipv4.ip_forward=1", "net.ipv4.ip_forward", SYSCTL_NETWORK },
        { "net.ipv4.ping_group_range=0 0", "net.ipv4.ping_group_range", SYSCTL_NETWORK },
        { "net.core.x=a=b", "net.core.x", SYSCTL_NETWORK },
        { "kernel.sem=", "kernel.sem", SYSCTL_IPC },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        g_autofree char *name = NULL;
        SysctlNamespace ns = 77;

        ck_assert(sysctl_parse(good[_i].value, &name, &ns, &error));
        ck_assert_str_eq(name, good[_i].name);
        ck_assert_int_eq(ns, good[_i].ns);
        ck_assert(sysctl_parse(good[_i].value, NULL, NULL, NULL));
}
END_TEST

static const struct {
        const char *value;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "", KT_ERROR_USAGE, "NAME=VALUE" },
        { "kernel.msgmax", KT_ERROR_USAGE, "NAME=VALUE" },
        { "=1", KT_ERROR_USAGE, "NAME=VALUE" },
        { "vm.swappiness=1", KT_ERROR_UNSUPPORTED, "sysctl.d(5)" },
        { "kernel.hostname=x", KT_ERROR_UNSUPPORTED, "'kernel.hostname'" },
        { "kernel.msgmaxx=1", KT_ERROR_UNSUPPORTED, "'kernel.msgmaxx'" },
        { "network.x=1", KT_ERROR_UNSUPPORTED, "'network.x'" },
        { "net.ipv4/../../kernel/panic=1", KT_ERROR_USAGE, "no name" },
        { "net...kernel=1", KT_ERROR_USAGE, "no name" },
        { " net.ipv4.ip_forward=1", KT_ERROR_USAGE, "no name" },
        { "net.ipv4.ip_forward =1", KT_ERROR_USAGE, "no name" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        char *name = NULL;

        ck_assert(!sysctl_parse(bad[_i].value, &name, NULL, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
        ck_assert_ptr_null(name);
}
END_TEST

TEST_MAIN("sysctl", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
