/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/sysctl.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "kernel.msgmax=1", "ipc kernel.msgmax=1" },
        { "kernel.shm_rmid_forced=1", "ipc kernel.shm_rmid_forced=1" },
        { "fs.mqueue.msg_max=5", "ipc fs.mqueue.msg_max=5" },
        { "net.ipv4.ip_forward=1", "network net.ipv4.ip_forward=1" },
        { "net.ipv4.ping_group_range=0 0", "network net.ipv4.ping_group_range=0 0" },
        { "net.core.x=a=b", "network net.core.x=a=b" },
        { "kernel.sem=", "ipc kernel.sem=" },
};

static const BadValue bad[] = {
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

static char *parse(const char *value, GError **error) {
        g_autoptr(Sysctl) sysctl = sysctl_parse(value, error);

        return sysctl ? g_strdup_printf("%s %s=%s", sysctl->ns == SYSCTL_IPC ? "ipc" : "network", sysctl->name,
                                        sysctl->value) :
                        NULL;
}

PARSE_TESTS(parse)

TEST_MAIN("sysctl", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
