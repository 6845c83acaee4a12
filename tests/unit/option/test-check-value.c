/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/check-value.h"
#include "tests/unit/base/expect-error.h"

/* The values that have no parser of their own, or one of a few words; and one good value for each of the
 * others, to see that the check leads to the right parser. */

typedef bool (*CheckValue)(const char *value, GError **error);

#define LONG_NAME "0123456789012345678901234567890123456789012345678901234567890123" /* 64 */

static const struct {
        CheckValue check;
        const char *value;
} good[] = {
        { check_name, "a" },
        { check_name, "0-a_b.c" },
        { check_name, "backup-camera" },
        { check_hostname, "a" },
        { check_hostname, "cam_1.example.org" },
        { check_hostname, LONG_NAME },
        { check_annotation, "a=" },
        { check_annotation, "a=b=c" },
        { check_user, "bob:video" },
        { check_group_add, "video" },
        { check_group_add, "44,video" },
        { check_absolute_path, "/" },
        { check_absolute_path, "/a b" },
        { check_env, "A=1" },
        { check_env, "A" },
        { check_env, "A_*" },
        { check_env, "A=" },
        { check_env, " A=1" },
        { check_volume, "/a:/b" },
        { check_mount, "type=tmpfs,dst=/a" },
        { check_tmpfs, "/a:size=1m" },
        { check_add_host, "a:::1" },
        { check_size, "64m" },
        { check_network, "host" },
        { check_network, "none" },
        { check_capability, "net_raw" },
        { check_security_opt, "no-new-privileges" },
        { check_ulimit, "nofile=1:2" },
        { check_sysctl, "kernel.msgmax=1" },
        { check_log_driver, "journald" },
        { check_log_driver, "passthrough" },
        { check_log_driver, "none" },
        { check_log_opt, "tag=camera" },
        { check_sdnotify, "conmon" },
        { check_sdnotify, "container" },
        { check_sdnotify, "ignore" },
        { check_signal, "RTMIN+3" },
        { check_timezone, "local" },
        { check_timezone, "America/Argentina/Buenos_Aires" },
        { check_timezone, "Etc/GMT-14" },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(good[_i].check(good[_i].value, &error), "%s: %s", good[_i].value, error ? error->message : "");
        ck_assert_ptr_null(error);
}
END_TEST

static const struct {
        CheckValue check;
        const char *value;
        ErrorCode code;
        const char *message;
} bad[] = {
        { check_name, "", KT_ERROR_USAGE, "name of a container" },
        { check_name, "-a", KT_ERROR_USAGE, "'-a'" },
        { check_name, ".a", KT_ERROR_USAGE, "'.a'" },
        { check_name, "..", KT_ERROR_USAGE, "'..'" },
        { check_name, "a/b", KT_ERROR_USAGE, "'a/b'" },
        { check_name, "a b", KT_ERROR_USAGE, "'a b'" },
        { check_name, "\303\244", KT_ERROR_USAGE, "name of a container" },
        { check_hostname, "", KT_ERROR_USAGE, "host name" },
        { check_hostname, "-a", KT_ERROR_USAGE, "host name" },
        { check_hostname, "a b", KT_ERROR_USAGE, "host name" },
        { check_hostname, "a\nb", KT_ERROR_USAGE, "host name" },
        { check_hostname, LONG_NAME "4", KT_ERROR_USAGE, "host name" },
        { check_annotation, "a", KT_ERROR_USAGE, "KEY=VALUE" },
        { check_annotation, "=a", KT_ERROR_USAGE, "KEY=VALUE" },
        { check_annotation, "run.oci.handler=wasm", KT_ERROR_UNSUPPORTED, "'run.oci.handler'" },
        { check_annotation, "org.systemd.property.Slice=x", KT_ERROR_UNSUPPORTED, "'org.systemd.property.Slice'" },
        { check_user, "a:b:c", KT_ERROR_USAGE, "USER" },
        { check_absolute_path, "", KT_ERROR_USAGE, "empty" },
        { check_absolute_path, "a/b", KT_ERROR_USAGE, "'a/b'" },
        { check_env, "", KT_ERROR_USAGE, "name" },
        { check_env, "=secret", KT_ERROR_USAGE, "name" },
        { check_env, " \t=secret", KT_ERROR_USAGE, "name" },
        { check_env, " ", KT_ERROR_USAGE, "name" },
        { check_volume, "a:/b", KT_ERROR_UNSUPPORTED, "named volume" },
        { check_mount, "type=glob", KT_ERROR_UNSUPPORTED, "glob" },
        { check_tmpfs, "/", KT_ERROR_USAGE, "'/'" },
        { check_add_host, "a:b", KT_ERROR_USAGE, "no address" },
        { check_size, "64z", KT_ERROR_USAGE, "64z" },
        { check_network, "", KT_ERROR_USAGE, "empty" },
        { check_network, "bridge", KT_ERROR_UNSUPPORTED, "'bridge'" },
        { check_network, "HOST", KT_ERROR_UNSUPPORTED, "'HOST'" },
        { check_network, "pasta:-t,80", KT_ERROR_UNSUPPORTED, "use host" },
        { check_network, "container:a", KT_ERROR_UNSUPPORTED, "use host" },
        { check_capability, "x", KT_ERROR_USAGE, "'x'" },
        { check_security_opt, "label=disable", KT_ERROR_UNSUPPORTED, "label" },
        { check_ulimit, "x=1", KT_ERROR_USAGE, "'x'" },
        { check_sysctl, "vm.x=1", KT_ERROR_UNSUPPORTED, "vm.x" },
        { check_log_driver, "k8s-file", KT_ERROR_UNSUPPORTED, "StandardOutput=append:" },
        { check_log_driver, "json-file", KT_ERROR_UNSUPPORTED, "StandardOutput=append:" },
        { check_log_driver, "passthrough-tty", KT_ERROR_UNSUPPORTED, "use passthrough" },
        { check_log_driver, "syslog", KT_ERROR_USAGE, "'syslog'" },
        { check_log_driver, "", KT_ERROR_USAGE, "''" },
        { check_log_opt, "tag=", KT_ERROR_USAGE, "missing" },
        { check_log_opt, "tag={{.Name}}", KT_ERROR_UNSUPPORTED, "templates" },
        { check_log_opt, "path=/a", KT_ERROR_UNSUPPORTED, "'path=/a'" },
        { check_log_opt, "max-size=1m", KT_ERROR_UNSUPPORTED, "journald.conf" },
        { check_sdnotify, "healthy", KT_ERROR_UNSUPPORTED, "container" },
        { check_sdnotify, "yes", KT_ERROR_USAGE, "'yes'" },
        { check_signal, "SIGNOPE", KT_ERROR_USAGE, "'SIGNOPE'" },
        { check_timezone, "", KT_ERROR_USAGE, "time zone" },
        { check_timezone, "/etc/shadow", KT_ERROR_USAGE, "'/etc/shadow'" },
        { check_timezone, "Europe/../../x", KT_ERROR_USAGE, "time zone" },
        { check_timezone, "Europe/Berlin ", KT_ERROR_USAGE, "time zone" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(!bad[_i].check(bad[_i].value, &error), "%s", bad[_i].value);
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

/* A value may be secret. */
START_TEST(test_secret) {
        g_autoptr(GError) error = NULL;

        ck_assert(!check_env("=hunter2", &error));
        ck_assert_ptr_null(strstr(error->message, "hunter2"));
}
END_TEST

TEST_MAIN("check-value", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_secret);
})
