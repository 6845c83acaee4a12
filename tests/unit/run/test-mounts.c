/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/statvfs.h>

#include "libstart/base/error.h"
#include "libstart/run/bind-mounts.h"
#include "libstart/run/kernel-mounts.h"
#include "libstart/run/mounts.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/test-main.h"

typedef runtime_spec_schema_defs_mount Mount;

typedef struct Row {
        const char *destination, *type, *options;
        bool known, private_;
} Row;

static const Row rows[] = {
        { "/proc", "proc", "nosuid noexec nodev", true },
        { "/proc", "proc", "hidepid=2", true },
        { "/proc", "proc", "nosuid nosymfollow" },
        { "/elsewhere", "proc", "nosuid" },
        { "/proc", "bind", "rbind", false, true },
        { "/sys", "sysfs", "nosuid noexec nodev ro", true },
        { "/dev", "tmpfs", "nosuid strictatime mode=755 size=65536k", true },
        { "/dev", "tmpfs", "nosuid mode=755 ro" }, /* something has to be put into it first */
        { "/dev/shm", "tmpfs", "nosuid size=1k" }, /* it would take its mode from what is below */
        { "/dev/shm", "tmpfs", "mode=1777 tmpcopyup" },
        { "/dev/pts", "devpts", "newinstance gid=5", true },
        { "/sys/fs/cgroup", "cgroup", "rprivate nosuid ro", true },
        { "/v", "bind", "rw rprivate rbind nosuid nodev noexec", false, true },
        { "/v", "bind", "bind private ro suid dev exec", false, true },
        { "/v", "bind", "rslave rbind" },
        { "/v", "bind", "rshared rbind" },
        { "/v", "bind", "rbind idmap" },
        { "/v", "bind", "rbind idmap=uids=0-1-10" },
        { "/v", "bind", "rbind rro" },
        { "/v", "tmpfs", "rbind" },
        { "/v", NULL, "rbind" },
};

static Mount make_mount(const Row *row) {
        Mount mount = { .destination = (char *) row->destination, .type = (char *) row->type };

        mount.options = g_strsplit(row->options, " ", -1);
        mount.options_len = g_strv_length(mount.options);
        return mount;
}

START_TEST(test_rows) {
        Mount mount = make_mount(&rows[_i]);

        ck_assert_int_eq(kernel_mount_is_known(&mount, true), rows[_i].known);
        ck_assert_int_eq(kernel_mount_is_known(&mount, false),
                         rows[_i].known && g_strcmp0(rows[_i].type, "cgroup") != 0);
        ck_assert_int_eq(bind_mount_is_private(&mount), rows[_i].private_);
        g_strfreev(mount.options);
}
END_TEST

/* What comes after a mount of libcrun's may lie on it. */
START_TEST(test_only_the_first_ones_count) {
        Mount proc = make_mount(&rows[0]), bind = make_mount(&rows[12]), shared = make_mount(&rows[15]);
        Mount *const mounts[] = { &proc, &bind, &shared, &bind };

        ck_assert_uint_eq(mounts_count(mounts, 0, true), 0);
        ck_assert_uint_eq(mounts_count(mounts, 2, true), 2);
        ck_assert_uint_eq(mounts_count(mounts, 4, true), 2);
        g_strfreev(proc.options);
        g_strfreev(bind.options);
        g_strfreev(shared.options);
}
END_TEST

#define STRICT (ST_NOSUID | ST_NODEV | ST_NOEXEC)

/* A mount that a user asks for keeps the restrictions of what its source is on. */
static const struct {
        unsigned long source;
        const char *options, *expected;
} restrictions[] = {
        { 0, "rw rbind", "rw rbind" },
        { STRICT, "rw rbind", "rw rbind noexec nosuid nodev" },
        { STRICT, "ro suid", "ro suid noexec nodev" },
        { STRICT, "suid exec dev", "suid exec dev" },
        { ST_RDONLY, "rw rbind", "rw rbind ro" },
};

START_TEST(test_restrictions) {
        const Row row = { "/a", "bind", restrictions[_i].options };
        Mount mount = make_mount(&row);
        g_autofree char *options = NULL;

        bind_mount_restrict(&mount, restrictions[_i].source);
        mount.options = g_renew(char *, mount.options, mount.options_len + 1);
        mount.options[mount.options_len] = NULL;
        options = g_strjoinv(" ", mount.options);
        ck_assert_str_eq(options, restrictions[_i].expected);
        g_strfreev(mount.options);
}
END_TEST

static const struct {
        const char *source;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "/no/thing", KT_ERROR_NOT_FOUND,
          "on the container's '/a' (Volume=, Mount=): '/no/thing' is not there; create it" },
        { "/dev/null/x", KT_ERROR_FAILED, "Cannot mount '/dev/null/x' on the container's '/a': " },
};

START_TEST(test_bad_sources) {
        const ContainerRequest request = { 0 };
        const BindMountContext context = { .root_fd = -1, .request = &request };
        Mount mount = { .source = (char *) bad[_i].source, .destination = (char *) "/a" };
        g_autoptr(GError) error = NULL;

        ck_assert_int_lt(bind_mount_open_source(&context, &mount, &error), 0);
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

TEST_MAIN("mounts", {
        tcase_add_loop_test(tcase, test_restrictions, 0, G_N_ELEMENTS(restrictions));
        tcase_add_loop_test(tcase, test_bad_sources, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_only_the_first_ones_count);
})
