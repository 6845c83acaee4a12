/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/request/read-words.h"

/* The values that have no parser of their own, or one of a few words; and one good value for each of the
 * others, to see that the option leads to the right parser. */

#define LONG_NAME "0123456789012345678901234567890123456789012345678901234567890123" /* 64 */

static const struct {
        const char *option, *value;
} good[] = {
        { "name", "a" },
        { "name", "0-a_b.c" },
        { "name", "backup-camera" },
        { "hostname", "a" },
        { "hostname", "cam_1.example.org" },
        { "hostname", LONG_NAME },
        { "annotation", "a=" },
        { "annotation", "a=b=c" },
        { "user", "bob:video" },
        { "group-add", "video" },
        { "group-add", "44,video" },
        { "workdir", "/" },
        { "workdir", "/a b" },
        { "env", "A=1" },
        { "env", "A" },
        { "env", "A_*" },
        { "env", "A=" },
        { "env", " A=1" },
        { "volume", "/a:/b" },
        { "mount", "type=tmpfs,dst=/a" },
        { "tmpfs", "/a:size=1m" },
        { "add-host", "a:::1" },
        { "shm-size", "64m" },
        { "shm-path", "/pod/shm" },
        { "ipc", "private" },
        { "ipc", "shareable" },
        { "pid", "host" },
        { "pid", "private" },
        { "ipc", "host" },
        { "uts", "host" },
        { "image-volume", "ignore" },
        { "umask", "0" },
        { "umask", "0777" },
        { "image-unit", "keyturn-pull-x.service" },
        { "store", "system" },
        { "image-unit", "always:x-image.service" },
        { "image-volume", "tmpfs" },
        { "image-volume", "bind" },
        { "cidfile", "/run/x.cid" },
        { "ipc", "ns:/pod/ipc" },
        { "uts", "private" },
        { "uts", "ns:/pod/uts" },
        { "network", "host" },
        { "network", "none" },
        { "network", "pinned:door-camera@front_left.1" },
        { "network", "ns:/run/netns/x" },
        { "network", "container:db" },
        { "cap-add", "net_raw" },
        { "security-opt", "no-new-privileges" },
        { "ulimit", "nofile=1:2" },
        { "sysctl", "kernel.msgmax=1" },
        { "log-driver", "journald" },
        { "log-driver", "passthrough" },
        { "log-driver", "none" },
        { "log-opt", "tag=camera" },
        { "log-opt", "path=/var/log/camera" },
        { "sdnotify", "conmon" },
        { "sdnotify", "container" },
        { "sdnotify", "healthy" },
        { "sdnotify", "ignore" },
        { "health-cmd", "none" },
        { "health-cmd", "NONE of it" },
        { "health-cmd", "" },
        { "health-cmd", "CMD /bin/true" },
        { "health-cmd", "CMD-SHELL true" },
        { "health-cmd", "CMDS" },
        { "health-cmd", "[ -e /run/ready ]" },
        { "health-interval", "disable" },
        { "health-interval", "0" },
        { "health-interval", "1m30s" },
        { "health-timeout", "1ns" },
        { "health-start-period", "0s" },
        { "health-retries", "1" },
        { "health-on-failure", "none" },
        { "health-on-failure", "kill" },
        { "health-on-failure", "restart" },
        { "health-on-failure", "stop" },
        { "health-log-destination", "local" },
        { "health-log-destination", "events_logger" },
        { "health-log-destination", "/var/log/health" },
        { "health-max-log-count", "0" },
        { "health-max-log-size", "0" },
        { "health-startup-cmd", "true" },
        { "health-startup-interval", "disable" },
        { "health-startup-retries", "0" },
        { "health-startup-success", "0" },
        { "health-startup-timeout", "1h" },
        { "stop-signal", "RTMIN+3" },
        { "tz", "local" },
        { "tz", "America/Argentina/Buenos_Aires" },
        { "tz", "Etc/GMT-14" },
};

START_TEST(test_good) {
        g_autoptr(LaunchArgs) args = launch_args_new();
        g_autoptr(GError) error = NULL;

        ck_assert_msg(launch_args_set(args, good[_i].option, good[_i].value, &error), "%s: %s", good[_i].value,
                      error ? error->message : "");
        ck_assert_ptr_null(error);
}
END_TEST

static const struct {
        const char *option, *value;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "name", "", KT_ERROR_USAGE, "name of a container" },
        { "name", "-a", KT_ERROR_USAGE, "'-a'" },
        { "name", ".a", KT_ERROR_USAGE, "'.a'" },
        { "name", "..", KT_ERROR_USAGE, "'..'" },
        { "name", "a/b", KT_ERROR_USAGE, "'a/b'" },
        { "name", "a b", KT_ERROR_USAGE, "'a b'" },
        { "name", "\303\244", KT_ERROR_USAGE, "name of a container" },
        { "hostname", "", KT_ERROR_USAGE, "host name" },
        { "hostname", "-a", KT_ERROR_USAGE, "host name" },
        { "hostname", "a b", KT_ERROR_USAGE, "host name" },
        { "hostname", "a\nb", KT_ERROR_USAGE, "host name" },
        { "hostname", LONG_NAME "4", KT_ERROR_USAGE, "host name" },
        { "annotation", "a", KT_ERROR_USAGE, "KEY=VALUE" },
        { "annotation", "=a", KT_ERROR_USAGE, "KEY=VALUE" },
        { "annotation", "run.oci.handler=wasm", KT_ERROR_UNSUPPORTED, "'run.oci.handler'" },
        { "annotation", "org.systemd.property.Slice=x", KT_ERROR_UNSUPPORTED, "'org.systemd.property.Slice'" },
        { "user", "a:b:c", KT_ERROR_USAGE, "USER" },
        { "group-add", "-1", KT_ERROR_USAGE, "neither" },
        { "workdir", "", KT_ERROR_USAGE, "empty" },
        { "workdir", "a/b", KT_ERROR_USAGE, "'a/b'" },
        { "env", "", KT_ERROR_USAGE, "name" },
        { "env", "=secret", KT_ERROR_USAGE, "name" },
        { "env", " \t=secret", KT_ERROR_USAGE, "name" },
        { "env", " ", KT_ERROR_USAGE, "name" },
        { "volume", "a/b:/b", KT_ERROR_USAGE, "no name of a volume" },
        { "mount", "type=disk", KT_ERROR_UNSUPPORTED, "disk" },
        { "tmpfs", "/", KT_ERROR_USAGE, "'/'" },
        { "add-host", "a:b", KT_ERROR_USAGE, "no address" },
        { "shm-size", "64z", KT_ERROR_USAGE, "64z" },
        { "shm-path", "shm", KT_ERROR_USAGE, "'shm'" },
        { "pid", "ns:/x", KT_ERROR_UNSUPPORTED, "'ns:/x'" },
        { "pid", "container:x", KT_ERROR_UNSUPPORTED, "'container:x'" },
        { "ipc", "container:x", KT_ERROR_UNSUPPORTED, "'container:x'" },
        { "ipc", "none", KT_ERROR_UNSUPPORTED, "'none'" },
        { "image-volume", "none", KT_ERROR_USAGE, "'none'" },
        { "umask", "", KT_ERROR_USAGE, "''" },
        { "umask", "0o22", KT_ERROR_USAGE, "'0o22'" },
        { "umask", "00022", KT_ERROR_USAGE, "'00022'" },
        { "image-unit", "always:x", KT_ERROR_USAGE, "'x'" },
        { "store", "", KT_ERROR_USAGE, "'' is no store" },
        { "store", "users", KT_ERROR_USAGE, "'users' is no store" },
        { "cidfile", "x.cid", KT_ERROR_USAGE, "'x.cid'" },
        { "ipc", "container:x", KT_ERROR_UNSUPPORTED, "'container:x'" },
        { "ipc", "ns:", KT_ERROR_USAGE, "empty" },
        { "uts", "ns:x", KT_ERROR_USAGE, "'x'" },
        { "network", "", KT_ERROR_USAGE, "empty" },
        { "network", "bridge", KT_ERROR_UNSUPPORTED, "'bridge'" },
        { "network", "HOST", KT_ERROR_UNSUPPORTED, "'HOST'" },
        { "network", "pasta:-t,80", KT_ERROR_UNSUPPORTED, "use host" },
        { "network", "container:", KT_ERROR_USAGE, "no name of a unit" },
        { "network", "container:../x", KT_ERROR_USAGE, "no name of a unit" },
        { "network", "podman:../x", KT_ERROR_USAGE, "no name of a container" },
        { "network", "podman:", KT_ERROR_USAGE, "no name of a container" },
        { "network", "pinned:", KT_ERROR_USAGE, "no name of a unit" },
        { "network", "pinned:..", KT_ERROR_USAGE, "no name of a unit" },
        { "network", "pinned:a/b", KT_ERROR_USAGE, "no name of a unit" },
        { "network", "ns:", KT_ERROR_USAGE, "empty" },
        { "network", "ns:netns/x", KT_ERROR_USAGE, "absolute" },
        { "cap-add", "x", KT_ERROR_USAGE, "'x'" },
        { "ulimit", "x=1", KT_ERROR_USAGE, "'x'" },
        { "sysctl", "vm.x=1", KT_ERROR_UNSUPPORTED, "vm.x" },
        { "log-driver", "k8s-file", KT_ERROR_UNSUPPORTED, "use journald" },
        { "log-driver", "json-file", KT_ERROR_UNSUPPORTED, "use journald" },
        { "log-driver", "passthrough-tty", KT_ERROR_UNSUPPORTED, "or passthrough" },
        { "log-driver", "syslog", KT_ERROR_USAGE, "'syslog'" },
        { "log-driver", "", KT_ERROR_USAGE, "''" },
        { "log-opt", "tag=", KT_ERROR_USAGE, "missing" },
        { "log-opt", "tag={{.Name}}", KT_ERROR_UNSUPPORTED, "templates" },
        { "log-opt", "path=a", KT_ERROR_USAGE, "'a' is not an absolute path" },
        { "log-opt", "path=", KT_ERROR_USAGE, "path=" },
        { "log-opt", "max-size=1m", KT_ERROR_UNSUPPORTED, "path=FILE" },
        { "sdnotify", "yes", KT_ERROR_USAGE, "'yes'" },
        { "health-cmd", "cmd true", KT_ERROR_USAGE, "write CMD" },
        { "health-startup-cmd", "[]", KT_ERROR_USAGE, "names no command" },
        { "health-interval", "", KT_ERROR_USAGE, "span of time" },
        { "health-interval", "-5s", KT_ERROR_USAGE, "'-5s'" },
        { "health-interval", "Disable", KT_ERROR_USAGE, "span of time" },
        { "health-timeout", "0", KT_ERROR_USAGE, "needs time" },
        { "health-timeout", "disable", KT_ERROR_USAGE, "span of time" },
        { "health-retries", "0", KT_ERROR_USAGE, "from 1 on" },
        { "health-retries", "3x", KT_ERROR_USAGE, "'3x'" },
        { "health-on-failure", "Kill", KT_ERROR_USAGE, "'Kill'" },
        { "health-log-destination", "tmp", KT_ERROR_USAGE, "events_logger" },
        { "health-max-log-size", "-1", KT_ERROR_USAGE, "'-1'" },
        { "health-startup-cmd", "none", KT_ERROR_USAGE, "never succeed" },
        { "health-startup-timeout", "0s", KT_ERROR_USAGE, "needs time" },
        { "stop-signal", "SIGNOPE", KT_ERROR_USAGE, "'SIGNOPE'" },
        { "tz", "", KT_ERROR_USAGE, "time zone" },
        { "tz", "/etc/shadow", KT_ERROR_USAGE, "'/etc/shadow'" },
        { "tz", "Europe/../../x", KT_ERROR_USAGE, "time zone" },
        { "tz", "Europe/Berlin ", KT_ERROR_USAGE, "time zone" },
};

START_TEST(test_bad) {
        g_autoptr(LaunchArgs) args = launch_args_new();
        g_autoptr(GError) error = NULL;

        ck_assert_msg(!launch_args_set(args, bad[_i].option, bad[_i].value, &error), "%s", bad[_i].value);
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

/* A value may be secret. */
START_TEST(test_secret) {
        g_autoptr(LaunchArgs) args = launch_args_new();
        g_autoptr(GError) error = NULL;

        ck_assert(!launch_args_set(args, "env", "=hunter2", &error));
        ck_assert_ptr_null(strstr(error->message, "hunter2"));
}
END_TEST

TEST_MAIN("option-values", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_secret);
})
