/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>

#include "libstart/request/mount-request.h"
#include "tests/unit/oci/build-spec.h"

/* One line a mount: "DESTINATION TYPE SOURCE OPTIONS". */
static char *describe(const Spec *spec) {
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < spec->mounts_len; i++) {
                const runtime_spec_schema_defs_mount *mount = spec->mounts[i];

                g_string_append_printf(text, "%s %s %s ", mount->destination, mount->type, mount->source);
                for (size_t j = 0; j < mount->options_len; j++)
                        g_string_append_printf(text, "%s%s", j ? "," : "", mount->options[j]);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

#define PROC "/proc proc proc nosuid,noexec,nodev\n"
#define DEV "/dev tmpfs tmpfs nosuid,strictatime,mode=755,size=65536k\n"
#define SYS "/sys sysfs sysfs nosuid,noexec,nodev,ro\n"
#define PTS "/dev/pts devpts devpts nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5\n"
#define MQUEUE "/dev/mqueue mqueue mqueue nosuid,noexec,nodev\n"
#define SHM "/dev/shm tmpfs shm nosuid,noexec,nodev,mode=1777,size=65536000\n"
#define CGROUP "/sys/fs/cgroup cgroup cgroup rprivate,nosuid,noexec,nodev,relatime,ro\n"
#define TOP PROC DEV SYS
#define REST PTS MQUEUE SHM CGROUP
#define TMPFS(place) place " tmpfs tmpfs rw,rprivate,nosuid,nodev,tmpcopyup\n"

/* Compared with Podman 5.4.2. It differs in this: /dev/shm is a bind mount of a tmpfs that it mounts
 * beforehand, and for an image's volume it binds an anonymous volume. */
static const struct {
        const char *const *words;
        const char *expected;
} rows[] = {
        { WORDS("i"), TOP REST },
        { WORDS("--network=none", "i"), TOP REST },
        { WORDS("-v", "/src:/vol", "--mount", "type=bind,src=/src,dst=/m,ro,bind-propagation=rslave", "--tmpfs=/t",
                "i"),
          TOP REST "/vol bind /src rw,rprivate,rbind\n/m bind /src ro,rslave,rbind\n" TMPFS("/t") },
        { WORDS("-v", "/src:/dev/shm", "-v", "/src:/proc/acpi", "--tmpfs=/dev/mqueue", "-v", "/src:/tmp/x",
                "--tmpfs=/tmp", "i"),
          TOP PTS CGROUP TMPFS(
                  "/tmp") "/dev/shm bind /src rw,rprivate,rbind\n/proc/acpi bind /src rw,rprivate,rbind\n"
                          "/tmp/x bind /src rw,rprivate,rbind\n" TMPFS("/dev/mqueue") },
        { WORDS("-v", "/src:/dev", "-v", "/src:/sys", "i"),
          PROC "/dev bind /src rw,rprivate,rbind\n/sys bind /src rw,rprivate,rbind\n" REST },
        { WORDS("-v", "/dev:/dev", "--ipc=host", "i"),
          PROC SYS CGROUP "/dev bind /dev rw,rprivate,rbind\n"
                          "/dev/shm bind /dev/shm bind,nosuid,noexec,nodev,rprivate\n" PTS },
        { WORDS("-v", "/src:/a", "-v", "/src:/a:rw", "-v", "/src/:/a/", "i"),
          TOP REST "/a bind /src rw,rprivate,rbind\n" },
        { WORDS("--shm-size=1m", "i"),
          TOP PTS MQUEUE "/dev/shm tmpfs shm nosuid,noexec,nodev,mode=1777,size=1048576\n" CGROUP },
        { WORDS("--shm-size=0", "i"),
          TOP PTS MQUEUE "/dev/shm tmpfs shm nosuid,noexec,nodev,mode=1777,size=0\n" CGROUP },
        { WORDS("--shm-path=/pod/shm", "i"),
          TOP PTS MQUEUE CGROUP "/dev/shm bind /pod/shm bind,nosuid,noexec,nodev,rprivate\n" },
        { WORDS("--shm-path=/pod/shm", "--tmpfs=/dev/shm", "i"), TOP PTS MQUEUE CGROUP TMPFS("/dev/shm") },
        { WORDS("--shm-path=/pod/shm", "--read-only", "--read-only-tmpfs=false", "i"),
          PROC "/dev tmpfs tmpfs nosuid,strictatime,mode=755,size=65536k,ro\n" SYS PTS MQUEUE CGROUP
               "/dev/shm bind /pod/shm bind,nosuid,noexec,nodev,rprivate,ro\n" },
        { WORDS("--read-only", "i"), TOP REST TMPFS("/run") TMPFS("/tmp") TMPFS("/var/tmp") },
        { WORDS("--read-only", "--read-only-tmpfs=false", "i"),
          PROC "/dev tmpfs tmpfs nosuid,strictatime,mode=755,size=65536k,ro\n" SYS PTS MQUEUE
               "/dev/shm tmpfs shm nosuid,noexec,nodev,mode=1777,size=65536000,ro\n" CGROUP },
        { WORDS("--read-only-tmpfs=false", "i"), TOP REST },
        { WORDS("--read-only", "-v", "/src:/tmp", "--tmpfs=/run:size=1k", "i"),
          TOP REST "/tmp bind /src rw,rprivate,rbind\n"
                   "/run tmpfs tmpfs size=1k,rw,rprivate,nosuid,nodev,tmpcopyup\n" TMPFS("/var/tmp") },
};

START_TEST(test_rows) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) spec = expect_spec(&c, rows[_i].words);
        g_autofree char *text = describe(spec);

        ck_assert_str_eq(text, rows[_i].expected);
}
END_TEST

/* The image's volumes matter only where the root cannot be written to. */
START_TEST(test_volumes) {
        g_auto(SpecCase) c = spec_case();

        c.image.volumes = (char **) WORDS("/", "/data", "/db/x", "/dev", "/dev/shm", "/proc", "/proc/sys",
                                          "/sys/fs/cgroup", "/sysx", "/var/tmp");
        g_autoptr(Spec) writable = expect_spec(&c, WORDS("i"));
        g_autofree char *first = describe(writable);
        ck_assert_str_eq(first, TOP REST);

        g_autoptr(Spec) read_only = expect_spec(&c, WORDS("--read-only", "-v/src:/db/x", "i"));
        g_autofree char *second = describe(read_only);
        ck_assert_str_eq(second, TOP REST TMPFS("/data") TMPFS("/sysx") TMPFS("/run")
                                         TMPFS("/tmp") "/db/x bind /src rw,rprivate,rbind\n" TMPFS("/var/tmp"));
}
END_TEST

/* As root/etc-files.c has them. */
static MountRequest *file_mount(const char *source, const char *destination) {
        MountRequest *mount = mount_request_new(MOUNT_BIND);

        ck_assert(mount_request_set_source(mount, source, NULL));
        ck_assert(mount_request_set_destination(mount, destination, NULL));
        ck_assert(mount_request_add_option(mount, "bind", NULL));
        ck_assert(mount_request_add_option(mount, "rprivate", NULL));
        return mount;
}

START_TEST(test_files) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(MountRequest) hosts = file_mount("/s/hosts", "/etc/hosts");
        g_autoptr(MountRequest) name = file_mount("/s/hostname", "/etc/hostname");
        g_autoptr(GPtrArray) files = g_ptr_array_new();

        g_ptr_array_add(files, hosts);
        g_ptr_array_add(files, name);
        c.file_mounts = files;
        g_autoptr(Spec) writable = expect_spec(&c, WORDS("-v/mine:/etc/hosts", "i"));
        g_autofree char *first = describe(writable);
        ck_assert_str_eq(first, TOP REST "/etc/hosts bind /mine rw,rprivate,rbind\n"
                                         "/etc/hostname bind /s/hostname bind,rprivate\n");

        g_autoptr(Spec) read_only = expect_spec(&c, WORDS("--read-only", "-v/mine:/etc/hosts", "i"));
        g_autofree char *second = describe(read_only);
        ck_assert_ptr_nonnull(
                strstr(second, "/etc/hostname bind /s/hostname bind,rprivate,ro,nosuid,noexec,nodev\n"));
        ck_assert_ptr_nonnull(strstr(second, "/etc/hosts bind /mine rw,rprivate,rbind\n"));
}
END_TEST

START_TEST(test_notify) {
        g_auto(SpecCase) c = spec_case();

        c.notify_socket = "/run/keyturn/cam/.private/notify";
        g_autoptr(Spec) container = expect_spec(&c, WORDS("i"));
        g_autofree char *second = describe(container);
        ck_assert_str_eq(second, TOP REST "/run/notify/notify.sock bind /run/keyturn/cam/.private/notify "
                                          "bind,ro,nosuid,nodev,noexec,rprivate\n");
}
END_TEST

#define NODE(destination, source) destination " bind " source " bind,rprivate,nosuid,dev,ro\n"

#define HOST(path, on) { .source = (char *) path, .destination = (char *) on }

static const struct {
        const char *const *words;
        DeviceNode nodes[3];
        const char *expected;
} devices[] = {
        { WORDS("i"), { HOST("/dev/a", "/dev/a"), HOST("/dev/a", "/dev/a") }, NODE("/dev/a", "/dev/a") },
        { WORDS("i"),
          { HOST("/dev/a", "/x"), HOST("/dev/b", "/dev/b") },
          NODE("/x", "/dev/a") NODE("/dev/b", "/dev/b") },
        { WORDS("i"), { { .destination = (char *) "/dev/c", .is_made = true } }, "" },
        { WORDS("-v/s:/v:rshared", "i"),
          { HOST("/dev/a", "/vx") },
          "/v bind /s rshared,rw,rbind\n" NODE("/vx", "/dev/a") },
};

/* The list lives as long as the nodes. */
static GPtrArray *list_nodes(const DeviceNode *nodes, size_t n) {
        GPtrArray *list = g_ptr_array_new();

        for (size_t i = 0; i < n && nodes[i].destination; i++)
                g_ptr_array_add(list, (void *) &nodes[i]);
        return list;
}

START_TEST(test_devices) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GPtrArray) nodes = list_nodes(devices[_i].nodes, G_N_ELEMENTS(devices[_i].nodes));

        c.host.device_nodes = nodes;
        g_autoptr(Spec) spec = expect_spec(&c, devices[_i].words);
        g_autofree char *text = describe(spec);
        g_autofree char *expected = g_strconcat(TOP REST, devices[_i].expected, NULL);
        ck_assert_str_eq(text, expected);
}
END_TEST

static const struct {
        const char *const *words;
        DeviceNode nodes[2];
        const char *message;
} bad_devices[] = {
        { WORDS("i"), { HOST("/dev/a", "/x"), HOST("/dev/b", "/x") }, "Two different mounts are to be on '/x'" },
        { WORDS("-v/dev/a:/dev/a", "i"), { HOST("/dev/a", "/dev/a") }, "'/dev/a'" },
        { WORDS("-v/a:/v:rshared", "i"),
          { HOST("/dev/a", "/v/x") },
          "AddDevice= on '/v/x': the mount on '/v' shares" },
        { WORDS("-v/dev:/dev:shared", "i"), { HOST("/dev/a", "/dev/a") }, "on '/dev/a': the mount on '/dev' shares" },
};

START_TEST(test_bad_devices) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GPtrArray) nodes = list_nodes(bad_devices[_i].nodes, G_N_ELEMENTS(bad_devices[_i].nodes));
        g_autoptr(GError) error = NULL;

        c.host.device_nodes = nodes;
        ck_assert_ptr_null(build_spec(&c, bad_devices[_i].words, &error));
        expect_error(error, KT_ERROR_USAGE, bad_devices[_i].message);
}
END_TEST

static const struct {
        const char *const *words;
        ErrorCode code;
        const char *message;
} bad[] = {
        { WORDS("-v/a:/x", "--tmpfs=/x", "i"), KT_ERROR_USAGE, "Two different mounts are to be on '/x'" },
        { WORDS("-v/a:/x", "-v/b:/x", "i"), KT_ERROR_USAGE, "'/x'" },
        { WORDS("-v/a:/x", "-v/a:/x/:ro", "i"), KT_ERROR_USAGE, "'/x'" },
};

START_TEST(test_bad) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(build_spec(&c, bad[_i].words, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

START_TEST(test_relabel) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("-v/a:/x:Z", "i"));
        g_autofree char *text = describe(spec);

        ck_assert_str_eq(text, TOP REST "/x bind /a rw,rprivate,rbind\n");
}
END_TEST

START_TEST(test_nested) {
        SelinuxLabels labels = { .process = (char *) "p", .file = (char *) "f" };
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) without = expect_spec(&c, WORDS("--security-opt=label=nested", "i"));
        g_autofree char *text = describe(without);

        ck_assert_str_eq(text, TOP REST);
        c.labels = &labels;
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("--security-opt=label=nested", "i"));
        g_autofree char *nested = describe(spec);
        ck_assert_str_eq(nested, TOP REST "/sys/fs/selinux bind /sys/fs/selinux bind,rprivate,nosuid,noexec\n");
}
END_TEST

#define SECRET(destination) destination " bind /s/0 bind,ro,nosuid,nodev,noexec,rprivate\n"

static const struct {
        const char *const *words;
        const char *destination;
        const char *expected; /* or what is said */
        bool is_error;
} secrets[] = {
        { WORDS("i"), "/run/secrets/a", TOP REST SECRET("/run/secrets/a") },
        { WORDS("i"), "/dev/a", TOP REST SECRET("/dev/a") },
        { WORDS("-v/v:/run", "--read-only", "i"), "/run/secrets/a",
          TOP REST "/run bind /v rw,rprivate,rbind\n" TMPFS("/tmp") TMPFS("/var/tmp") SECRET("/run/secrets/a") },
        { WORDS("-v/v:/v:rslave", "i"), "/v/a", TOP REST "/v bind /v rslave,rw,rbind\n" SECRET("/v/a") },
        { WORDS("-v/v:/run/secrets/a", "i"), "/run/secrets/a", "another mount is on its target '/run/secrets/a'",
          true },
        { WORDS("-v/v:/v:rshared", "i"), "/run/secrets/a", "the mount on '/v' shares what is mounted in it", true },
};

START_TEST(test_secrets) {
        SecretFile file = { .source = (char *) "/s/0", .destination = (char *) secrets[_i].destination };
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;

        c.secret_files = &(GPtrArray) { .pdata = (void *[]) { &file }, .len = 1 };
        g_autoptr(Spec) spec = build_spec(&c, secrets[_i].words, &error);
        if (secrets[_i].is_error) {
                ck_assert_ptr_null(spec);
                expect_error(error, KT_ERROR_USAGE, secrets[_i].expected);
                return;
        }
        ck_assert_msg(spec, "%s", error ? error->message : "");
        g_autofree char *text = describe(spec);
        ck_assert_str_eq(text, secrets[_i].expected);
}
END_TEST

TEST_MAIN("spec-mounts", {
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_volumes);
        tcase_add_test(tcase, test_files);
        tcase_add_test(tcase, test_notify);
        tcase_add_loop_test(tcase, test_devices, 0, G_N_ELEMENTS(devices));
        tcase_add_loop_test(tcase, test_bad_devices, 0, G_N_ELEMENTS(bad_devices));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_relabel);
        tcase_add_test(tcase, test_nested);
        tcase_add_loop_test(tcase, test_secrets, 0, G_N_ELEMENTS(secrets));
})
