/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/request/read-words.h"

/* What gVisor would leave out without a word is an error, and none for runtimes that have it. */
static const char *const only_runc[] = {
        "--device=/dev/null",
        "--device-cgroup-rule=c 13:* rw",
        "--privileged",
        "--security-opt=apparmor=x",
        "--security-opt=mask=/proc/cpuinfo",
        "--security-opt=label=type:x_t",
        "--sysctl=kernel.msgmax=1",
        "--sdnotify=container",
        "--pid=host",
        "--ipc=host",
        "--ipc=ns:/run/ipc",
        "--uts=ns:/run/uts",
        "--userns=auto",
        "--systemd=always",
};

static const char *const nobody[] = {
        "--volume=/a:/b:shared",
        "--mount=type=bind,source=/a,target=/b,bind-propagation=rshared",
};

static const char *const everybody[] = {
        "--volume=/a:/b:rslave",
        "--sdnotify=healthy",
        "--security-opt=label=disable",
        "--security-opt=no-new-privileges",
        "--security-opt=seccomp=/profile.json",
        "--cap-drop=all",
        "--read-only",
        "--user=1:1",
        "--tmpfs=/t",
        "--network=none",
};

static bool try(const char *runtime, const char *option, GError **error) {
        g_auto(ReadWords) read = { 0 };

        return try_words(WORDS("--health-cmd=x", runtime, option, "i"), &read, error);
}

static void refuse(const char *runtime, const char *option) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(!try(runtime, option, &error), "%s with %s", option, runtime);
        ck_assert_msg(g_error_matches(error, KT_ERROR, KT_ERROR_UNSUPPORTED) &&
                              strstr(error->message, "as its runtime"),
                      "%s: %s", option, error->message);
        ck_assert_msg(strncmp(error->message, option, strcspn(option, "=")) == 0, "%s: %s", option, error->message);
}

static void take(const char *runtime, const char *option) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(try(runtime, option, &error), "%s with %s: %s", option, runtime, error ? error->message : "");
}

START_TEST(test_sandbox) {
        refuse("--runtime-program=/usr/bin/runsc", only_runc[_i]);
        take("--runtime-program=/usr/bin/runc", only_runc[_i]);
        take("--runtime-program=/usr/bin/crun", only_runc[_i]);
}
END_TEST

START_TEST(test_nobody) {
        refuse("--runtime-program=/usr/bin/runsc", nobody[_i]);
        refuse("--runtime-program=/usr/bin/crun", nobody[_i]);
        take("--name=without-one", nobody[_i]);
}
END_TEST

START_TEST(test_everybody) {
        take("--runtime-program=/usr/bin/runsc", everybody[_i]);
        take("--runtime-program=/usr/bin/other", everybody[_i]);
}
END_TEST

START_TEST(test_no_path) {
        g_autoptr(GError) error = NULL;

        ck_assert(!try("--runtime-program=runsc", "--read-only", &error));
}
END_TEST

TEST_MAIN("runtime-rules", {
        tcase_add_loop_test(tcase, test_sandbox, 0, G_N_ELEMENTS(only_runc));
        tcase_add_loop_test(tcase, test_nobody, 0, G_N_ELEMENTS(nobody));
        tcase_add_loop_test(tcase, test_everybody, 0, G_N_ELEMENTS(everybody));
        tcase_add_test(tcase, test_no_path);
})
