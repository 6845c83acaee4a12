/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>

#include "tests/unit/oci/build-spec.h"

static char *describe_namespaces(const Spec *spec) {
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < spec->linux->namespaces_len; i++) {
                g_string_append_printf(text, "[%s%s%s]", spec->linux->namespaces[i]->type,
                                       spec->linux->namespaces[i]->path ? " " : "",
                                       spec->linux->namespaces[i]->path ?: "");
        }
        return g_string_free(text, FALSE);
}

static char *describe_sysctls(const Spec *spec) {
        GString *text = g_string_new(NULL);

        for (size_t i = 0; spec->linux->sysctl && i < spec->linux->sysctl->len; i++)
                g_string_append_printf(text, "[%s=%s]", spec->linux->sysctl->keys[i], spec->linux->sysctl->values[i]);
        return g_string_free(text, FALSE);
}

#define SHARED_NET "[pid][ipc][uts][mount][cgroup]"
#define OWN_NET SHARED_NET "[network]"
#define PING "[net.ipv4.ping_group_range=0 0]"

static const struct {
        const char *const *words;
        const char *namespaces, *sysctls, *propagation;
} rows[] = {
        { WORDS("i"), SHARED_NET, "", NULL },
        { WORDS("--network=host", "i"), SHARED_NET, "", NULL },
        { WORDS("--network=none", "i"), OWN_NET, PING, NULL },
        { WORDS("--ipc=ns:/a", "--uts=ns:/b", "i"), "[pid][ipc /a][uts /b][mount][cgroup]", "", NULL },
        { WORDS("--network=none", "--sysctl=net.ipv4.ping_group_range=1 1", "--sysctl=net.a=x=y", "i"), OWN_NET,
          "[net.ipv4.ping_group_range=1 1][net.a=x=y]", NULL },
        { WORDS("--sysctl=kernel.msgmax=100", "--sysctl=fs.mqueue.msg_max=5", "--sysctl=kernel.msgmax=200", "i"),
          SHARED_NET, "[kernel.msgmax=200][fs.mqueue.msg_max=5]", NULL },
        { WORDS("-v/a:/b:rslave", "i"), SHARED_NET, "", "rslave" },
        { WORDS("-v/a:/b:slave", "-v/a:/c", "i"), SHARED_NET, "", "rslave" },
        { WORDS("-v/a:/b:slave", "-v/a:/c:shared", "i"), SHARED_NET, "", "shared" },
        { WORDS("-v/a:/b:unbindable", "i"), SHARED_NET, "", NULL },
};

START_TEST(test_rows) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) spec = expect_spec(&c, rows[_i].words);
        g_autofree char *namespaces = describe_namespaces(spec), *sysctls = describe_sysctls(spec);

        ck_assert_str_eq(namespaces, rows[_i].namespaces);
        ck_assert_str_eq(sysctls, rows[_i].sysctls);
        ck_assert_pstr_eq(spec->linux->rootfs_propagation, rows[_i].propagation);
        ck_assert_ptr_null(spec->linux->seccomp);
        ck_assert_ptr_null(spec->linux->resources);
        ck_assert_ptr_null(spec->linux->cgroups_path);
}
END_TEST

START_TEST(test_masks) {
        g_auto(SpecCase) c = spec_case();

        c.host.thermal_throttle = (char **) WORDS("/sys/devices/system/cpu/cpu0/thermal_throttle");
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("i"));
        expect_list(spec->linux->masked_paths,
                    "[/proc/acpi][/proc/interrupts][/proc/kcore][/proc/keys][/proc/latency_stats]"
                    "[/proc/sched_debug][/proc/scsi][/proc/timer_list][/proc/timer_stats]"
                    "[/sys/devices/virtual/powercap][/sys/firmware][/sys/fs/selinux]"
                    "[/sys/devices/system/cpu/cpu0/thermal_throttle]");
        expect_list(spec->linux->readonly_paths,
                    "[/proc/asound][/proc/bus][/proc/fs][/proc/irq][/proc/sys][/proc/sysrq-trigger]");
}
END_TEST

/* Where a user's container has the host's /sys, what the host has mounted below is hidden, too. */
static const struct {
        const char *const *words;
        bool is_hidden;
} users_masks[] = {
        { WORDS("i"), true },
        { WORDS("--network=host", "i"), true },
        { WORDS("--network=none", "i"), false },
        { WORDS("--security-opt=unmask=ALL", "i"), true },
        { WORDS("--privileged", "i"), false },
};

START_TEST(test_masks_of_users) {
        g_auto(SpecCase) c = spec_case();
        bool is_hidden = false;

        c.host.is_users_view = true;
        g_autoptr(Spec) spec = expect_spec(&c, users_masks[_i].words);
        for (size_t i = 0; i < spec->linux->masked_paths_len; i++)
                is_hidden |= g_str_equal(spec->linux->masked_paths[i], "/sys/kernel");
        ck_assert_int_eq(is_hidden, users_masks[_i].is_hidden);
}
END_TEST

#define OPT "--security-opt"

/* Which of Podman's defaults are left, and what is added. */
static const struct {
        const char *const *words;
        const char *masked, *readonly;
        bool writable_cgroup;
} masks[] = {
        { WORDS(OPT, "unmask=ALL", "i"), "-", "-", true },
        { WORDS(OPT, "unmask=/proc/acpi", OPT, "unmask=all", "i"), "-", "-", false }, /* podman */
        { WORDS(OPT, "unmask=/*", OPT, "unmask=/proc", "i"), /* podman: a star does not match a slash */
          "[/proc/acpi][/proc/interrupts][/proc/kcore][/proc/keys][/proc/latency_stats]"
          "[/proc/sched_debug][/proc/scsi]"
          "[/proc/timer_list][/proc/timer_stats][/sys/devices/virtual/powercap][/sys/firmware][/sys/fs/selinux]"
          "[/sys/devices/system/cpu/cpu0/thermal_throttle]",
          "[/proc/asound][/proc/bus][/proc/fs][/proc/irq][/proc/sys][/proc/sysrq-trigger]", false },
        { WORDS(OPT, "unmask=/proc/*:/sys/f*/*", OPT, "mask=/proc/keys:/etc/x", OPT, "mask=/y", "i"),
          "[/sys/devices/virtual/powercap][/sys/firmware][/sys/devices/system/cpu/cpu0/thermal_throttle]"
          "[/proc/keys][/etc/x][/y]",
          "-", false },
        { WORDS(OPT, "unmask=/proc/[^k]*:/sys/*/[^s]*", OPT, "unmask=/sys/firmware", "i"),
          "[/proc/kcore][/proc/keys][/sys/devices/virtual/powercap][/sys/fs/selinux]"
          "[/sys/devices/system/cpu/cpu0/thermal_throttle]",
          "-", false },
        { WORDS(OPT, "unmask=/sys/devices/system/cpu/*/thermal_throttle:/sys/*:/proc/[abikst]*:/sys/fs//cgroup/",
                "i"),
          "[/proc/latency_stats][/sys/devices/virtual/powercap][/sys/fs/selinux]", "[/proc/fs]", true },
};

START_TEST(test_masks_of_the_file) {
        g_auto(SpecCase) c = spec_case();

        c.host.thermal_throttle = (char **) WORDS("/sys/devices/system/cpu/cpu0/thermal_throttle");
        g_autoptr(Spec) spec = expect_spec(&c, masks[_i].words);
        expect_list(spec->linux->masked_paths, masks[_i].masked);
        expect_list(spec->linux->readonly_paths, masks[_i].readonly);
        for (size_t i = 0; i < spec->mounts_len; i++)
                if (g_str_equal(spec->mounts[i]->destination, "/sys/fs/cgroup"))
                        ck_assert_int_eq(!g_strv_contains((const char *const *) spec->mounts[i]->options, "ro"),
                                         masks[_i].writable_cgroup);
}
END_TEST

static const struct {
        const char *const *words;
        const char *mount; /* that is shared, or NULL */
} shared[] = {
        { WORDS("-v/a:/v:rshared", OPT, "mask=/v/secret", "i"), "'/v/secret': the mount on '/v' shares" },
        { WORDS("-v/a:/v:shared", OPT, "mask=/etc/x://v/./", "i"), "'/v': the mount on '/v' shares" },
        { WORDS("--mount=type=bind,src=/a,dst=/v,bind-propagation=rshared", OPT, "mask=/v/b/c", "i"), "'/v'" },
        /* Hidden in any container, and read-only. */
        { WORDS("-v/a:/sys/firmware:shared", "i"), "Masked path '/sys/firmware': the mount" },
        { WORDS("-v/a:/sys/firmware:shared", OPT, "unmask=/sys/firmware", "i"), NULL },
        { WORDS("-v/a:/proc/fs:shared", "i"), "Read-only path '/proc/fs': the mount" },
        { WORDS("-v/a:/v:rshared", "-v/b:/v/w", OPT, "mask=/v/w/x", "i"), "'/v/w/x'" },
        { WORDS("-v/a:/v", "-v/b:/v/w:shared", OPT, "mask=/v/x:/v/wx", "i"), NULL },
        { WORDS("-v/a:/v", "-v/b:/v/w:shared", OPT, "mask=/v/w/x", "i"), "'/v/w'" },
        { WORDS("-v/a:/v:rshared", "--tmpfs=/v/w:shared", OPT, "mask=/v/w/x", "i"), "'/v'" },
        { WORDS("-v/a:/v:rslave", "--tmpfs=/w:shared", OPT, "mask=/v/x:/w/x", "i"), NULL },
};

START_TEST(test_masks_in_shared_mounts) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;
        g_autoptr(Spec) spec = build_spec(&c, shared[_i].words, &error);

        if (!shared[_i].mount) {
                ck_assert_ptr_nonnull(spec);
                return;
        }
        ck_assert_ptr_null(spec);
        expect_error(error, KT_ERROR_USAGE, shared[_i].mount);
}
END_TEST

TEST_MAIN("spec-linux", {
        tcase_add_loop_test(tcase, test_masks_in_shared_mounts, 0, G_N_ELEMENTS(shared));
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_masks);
        tcase_add_loop_test(tcase, test_masks_of_users, 0, G_N_ELEMENTS(users_masks));
        tcase_add_loop_test(tcase, test_masks_of_the_file, 0, G_N_ELEMENTS(masks));
})
