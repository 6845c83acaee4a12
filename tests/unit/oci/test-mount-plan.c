/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "tests/unit/base/expect-error.h"
#include "tests/unit/oci/build-spec.h"
#include "tests/unit/test-main.h"

/*
 * Who makes what
 */

/* A line a mount: "MAKER DESTINATION FLAGS", and a star for what a user asks for. */
static char *describe(const MountPlan *plan) {
        static const char *const makers[] = { "kernel", "bind", "libcrun", "last", "shared" };
        static const struct {
                unsigned long flag;
                const char *name;
        } flags[] = {
                { MS_RDONLY, "ro" },          { MS_NOSUID, "nosuid" }, { MS_NODEV, "nodev" },
                { MS_NOEXEC, "noexec" },      { MS_REC, "rec" },       { MS_PRIVATE, "private" },
                { MS_SHARED, "shared" },      { MS_SLAVE, "slave" },   { MS_RELATIME, "relatime" },
                { MS_STRICTATIME, "strict" },
        };
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < plan->n_mounts; i++) {
                const ContainerMount *mount = plan->mounts[i];
                char separator = ' ';

                g_string_append_printf(text, "%s %s", makers[mount->maker], mount->oci->destination);
                for (size_t j = 0; j < G_N_ELEMENTS(flags); j++)
                        if (mount->flags & flags[j].flag) {
                                g_string_append_printf(text, "%c%s", separator, flags[j].name);
                                separator = ',';
                        }
                g_string_append(text, mount->request ? " *\n" : "\n");
        }
        return g_string_free(text, FALSE);
}

#define PROC "kernel /proc nosuid,nodev,noexec\n"
#define DEV "kernel /dev nosuid,strict\n"
#define SYS "kernel /sys ro,nosuid,nodev,noexec\n"
#define PTS "kernel /dev/pts nosuid,noexec\n"
#define MQUEUE "kernel /dev/mqueue nosuid,nodev,noexec\n"
#define SHM "kernel /dev/shm nosuid,nodev,noexec\n"
#define CGROUP "kernel /sys/fs/cgroup ro,nosuid,nodev,noexec,private,relatime\n"
#define ALL PROC DEV SYS PTS MQUEUE SHM CGROUP
#define TMPFS(place) "libcrun " place " nosuid,nodev,private"

/* What is refused has the message as `expected`. */
static const struct {
        const char *const *words;
        const char *expected;
        bool cgroup1, is_refused;
} plans[] = {
        { WORDS("i"), ALL },
        { WORDS("-v", "/s:/v", "-v", "/s:/w:ro,exec", "--mount", "type=bind,src=/s,dst=/x,bind-nonrecursive", "i"),
          ALL "bind /v rec,private *\nbind /w ro,rec,private *\nbind /x private *\n" },
        { WORDS("-v", "name:/v", "i"), ALL "bind /v nosuid,nodev,rec,private *\n" },

        /* Behind one of libcrun's all are libcrun's: they may lie on it. */
        { WORDS("-v", "/s:/a", "-v", "/s:/b:rslave", "-v", "/s:/c", "i"),
          ALL "bind /a rec,private *\nlibcrun /b rec,slave *\nlibcrun /c rec,private *\n" },
        { WORDS("-v", "/s:/b/c", "--tmpfs=/b", "i"), ALL TMPFS("/b") " *\nlibcrun /b/c rec,private *\n" },
        { WORDS("--mount", "type=ramfs,dst=/r", "i"), ALL "libcrun /r *\n" },
        { WORDS("--read-only", "--read-only-tmpfs=false", "i"),
          PROC "libcrun /dev ro,nosuid,strict\nlibcrun /sys ro,nosuid,nodev,noexec\nlibcrun /dev/pts nosuid,noexec\n"
               "libcrun /dev/mqueue nosuid,nodev,noexec\nlibcrun /dev/shm ro,nosuid,nodev,noexec\n"
               "libcrun /sys/fs/cgroup ro,nosuid,nodev,noexec,private,relatime\n" },
        { WORDS("-v", "/s:/v", "i"),
          PROC DEV SYS PTS MQUEUE SHM
          "libcrun /sys/fs/cgroup ro,nosuid,nodev,noexec,private,relatime\nlibcrun /v rec,private *\n",
          .cgroup1 = true },

        /* Something of the user's in the place of the kernel's, or above it. */
        { WORDS("-v", "/s:/dev", "i"), PROC SYS CGROUP "bind /dev rec,private *\n" PTS MQUEUE SHM },
        { WORDS("--tmpfs=/dev", "i"),
          PROC SYS CGROUP TMPFS("/dev") " *\nlibcrun /dev/pts nosuid,noexec\nlibcrun /dev/mqueue "
                                        "nosuid,nodev,noexec\nlibcrun /dev/shm nosuid,nodev,noexec\n" },
        { WORDS("--mount", "type=devpts,dst=/dev/pts,max=9", "i"),
          PROC DEV SYS MQUEUE SHM CGROUP "kernel /dev/pts *\n" },
        { WORDS("--mount", "type=devpts,dst=/elsewhere", "i"), ALL "libcrun /elsewhere *\n" },

        /* What libcrun cannot make comes last, where it would be behind libcrun's. */
        { WORDS("-v", "/s:/o:O", "i"), ALL "bind /o rec,private *\n" },
        { WORDS("-v", "/s:/o:O", "-v", "/s:/v", "--tmpfs=/t", "i"),
          ALL "bind /o rec,private *\nbind /v rec,private *\n" TMPFS("/t") " *\n" },
        { WORDS("-v", "/s:/v:rslave", "-v", "/s:/o:O", "--tmpfs=/t", "-v", "/s:/o/below:ro", "i"),
          ALL "libcrun /v rec,slave *\n" TMPFS("/t") " *\nlast /o rec,private *\nlast /o/below ro,rec,private *\n" },
        { WORDS("--tmpfs=/t", "--mount", "type=image,src=x,dst=/d/i", "--mount",
                "type=volume,src=x,dst=/d/p,subpath=d", "-v", "/s:/t/v", "i"),
          ALL TMPFS("/t") " *\nlibcrun /t/v rec,private *\nlast /d/i ro,nodev *\n"
                          "last /d/p nosuid,nodev,rec,private *\n" },
        { WORDS("-v", "/s:/v:rslave", "-v", "/s:/o:O", "--tmpfs=/o/below", "i"),
          "Cannot mount on the container's '/o/below': above it is an overlay (O)", .is_refused = true },

        /* What is shared comes behind all, and nothing is in it. */
        { WORDS("-v", "/s:/b:shared", "i"), ALL "shared /b rec,shared *\n" },
        { WORDS("-v", "/s:/b:rshared", "-v", "/s:/c:ro", "--tmpfs=/d/t", "-v", "/s:/e/f/o:O", "-v", "/s:/g:shared",
                "i"),
          ALL "bind /c ro,rec,private *\n" TMPFS("/d/t") " *\nlast /e/f/o rec,private *\nshared /b rec,shared *\n"
                                                         "shared /g rec,shared *\n" },
        { WORDS("-v", "/s:/a:rslave", "--mount", "type=image,src=x,dst=/i", "-v", "/s:/i/v:rshared", "i"),
          ALL "libcrun /a rec,slave *\nlast /i ro,nodev *\nshared /i/v rec,shared *\n" },
        { WORDS("-v", "/s:/dev:rshared", "i"), "'/dev/pts': the mount on '/dev' shares", .is_refused = true },
};

/* A plan of a command line, and what it belongs to. */
typedef struct Planned {
        ReadWords words;
        Spec *spec;
        MountPlan *plan;
} Planned;

static void planned_clear(Planned *planned) {
        mount_plan_free(planned->plan);
        free_runtime_spec_schema_config_schema(planned->spec);
        read_words_clear(&planned->words);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Planned, planned_clear)

static MountPlan *make_plan(const char *const *words, Planned *ret) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;

        c.ret_mounts = &ret->plan;
        ret->spec = try_words(words, &ret->words, &error) ? build_requested(&c, &ret->words.request, &error) : NULL;
        ck_assert_msg(ret->spec, "%s", error ? error->message : "");
        return ret->plan;
}

START_TEST(test_plans) {
        g_auto(Planned) planned = { 0 };
        MountPlan *plan = make_plan(plans[_i].words, &planned);
        g_autoptr(GError) error = NULL;

        if (plans[_i].is_refused) {
                ck_assert(!mount_plan_divide(plan, true, &error));
                ck_assert_ptr_nonnull(strstr(error->message, plans[_i].expected));
                return;
        }
        ck_assert(mount_plan_divide(plan, !plans[_i].cgroup1, &error));
        g_autofree char *text = describe(plan);
        ck_assert_str_eq(text, plans[_i].expected);
        ck_assert_int_eq(mount_plan_needs_libcrun(plan),
                         strstr(text, "libcrun ") || strstr(text, "last ") || strstr(text, "shared /"));
}
END_TEST

/* Nothing is lost on the way to libcrun, or to the spec. */
START_TEST(test_lists) {
        g_auto(Planned) planned = { 0 };
        MountPlan *plan = make_plan(
                WORDS("--tmpfs=/t", "-v", "/s:/d/o:O", "-v", "/s:/t/v", "-v", "/s:/d/o/below", "i"), &planned);
        g_autofree OciMount **libcruns = NULL;
        size_t n;

        ck_assert(mount_plan_divide(plan, true, NULL));
        libcruns = mount_plan_list_for_libcrun(plan, &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(libcruns[0]->destination, "/t");
        ck_assert_str_eq(libcruns[1]->destination, "/t/v");
        mount_plan_print(plan, planned.spec);
        ck_assert_uint_eq(planned.spec->mounts_len, 7 + 4);
        ck_assert_str_eq(planned.spec->mounts[9]->destination, "/d/o");
        ck_assert_str_eq(planned.spec->mounts[10]->destination, "/d/o/below");
}
END_TEST

/*
 * Single mounts, as hooks and CDI may ask for them too
 */

typedef struct Row {
        const char *destination, *type, *options;
        MountMaker maker;
} Row;

static const Row rows[] = {
        { "/proc", "proc", "nosuid noexec nodev", MAKER_KERNEL },
        { "/proc", "proc", "hidepid=2", MAKER_KERNEL },
        { "/proc", "proc", "nosuid nosymfollow", MAKER_LIBCRUN },
        { "/proc", "proc", "rw", MAKER_LIBCRUN },
        { "/elsewhere", "proc", "nosuid", MAKER_LIBCRUN },
        { "/proc", "bind", "rbind", MAKER_BIND },
        { "/sys", "sysfs", "nosuid noexec nodev ro", MAKER_KERNEL },
        { "/dev", "tmpfs", "nosuid strictatime mode=755 size=65536k", MAKER_KERNEL },
        { "/dev", "tmpfs", "nosuid mode=755 ro", MAKER_LIBCRUN }, /* something has to be put into it first */
        { "/dev/shm", "tmpfs", "nosuid size=1k", MAKER_LIBCRUN }, /* it would take its mode from what is below */
        { "/dev/shm", "tmpfs", "mode=1777 tmpcopyup", MAKER_LIBCRUN },
        { "/dev/pts", "devpts", "newinstance gid=5", MAKER_KERNEL },
        { "/sys/fs/cgroup", "cgroup", "rprivate nosuid ro", MAKER_KERNEL },
        { "/sys/fs/cgroup", "cgroup", "rslave nosuid ro", MAKER_LIBCRUN },
        { "/v", "bind", "rw rprivate rbind nosuid nodev noexec", MAKER_BIND },
        { "/v", "bind", "bind private ro suid dev exec", MAKER_BIND },
        { "/v", "bind", "rslave rbind", MAKER_LIBCRUN },
        { "/v", "bind", "rshared rbind", MAKER_SHARED },
        { "/v", "bind", "runbindable rbind", MAKER_LIBCRUN },
        { "/v", "bind", "rbind idmap", MAKER_LIBCRUN },
        { "/v", "bind", "rbind idmap=uids=0-1-10", MAKER_LIBCRUN },
        { "/v", "bind", "rbind rro", MAKER_LIBCRUN },
        { "/v", "bind", "rbind strictatime", MAKER_LIBCRUN },
        { "/v", "tmpfs", "rbind", MAKER_BIND },
        { "/v", NULL, "rbind", MAKER_BIND },
};

static ContainerMount *add(MountPlan *plan, const char *destination, const char *type, const char *options) {
        g_auto(GStrv) words = g_strsplit(options, " ", -1);

        mount_plan_add(plan, oci_mount_new(destination, type, "/source", (const char *const *) words));
        return mount_plan_find(plan, destination);
}

START_TEST(test_rows) {
        const Row *row = &rows[_i];
        g_autoptr(MountPlan) plan = mount_plan_new();
        const ContainerMount *mount = add(plan, row->destination, row->type, row->options);

        ck_assert(mount_plan_divide(plan, true, NULL));
        ck_assert_int_eq(mount->maker, row->maker);
        ck_assert(mount_plan_divide(plan, false, NULL));
        ck_assert_int_eq(mount->maker, g_strcmp0(row->type, "cgroup") == 0 ? MAKER_LIBCRUN : row->maker);
}
END_TEST

/* A mount that a user asks for keeps the restrictions of what its source is on; for libcrun in words, for us in
 * flags. */

#define STRICT (ST_NOSUID | ST_NODEV | ST_NOEXEC)

static const struct {
        unsigned long source;
        const char *options, *expected;
        unsigned long flags;
} restrictions[] = {
        { 0, "rw rbind", "rw rbind", 0 },
        { STRICT, "rw rbind", "rw rbind nosuid nodev noexec", MS_NOEXEC | MS_NOSUID | MS_NODEV },
        { STRICT, "ro suid", "ro suid nodev noexec", MS_RDONLY | MS_NOEXEC | MS_NODEV },
        { STRICT, "suid exec dev", "suid exec dev", 0 },
        { ST_RDONLY, "rw rbind", "rw rbind ro", MS_RDONLY },
        { STRICT | ST_RDONLY, "ro nosuid", "ro nosuid nodev noexec", MS_RDONLY | MS_NOSUID | MS_NOEXEC | MS_NODEV },
        { ST_RELATIME, "rw", "rw", 0 },
};

START_TEST(test_restrictions) {
        g_autoptr(MountPlan) plan = mount_plan_new();
        ContainerMount *mount = add(plan, "/a", "bind", restrictions[_i].options);
        g_autofree char *options = NULL;

        container_mount_restrict(mount, restrictions[_i].source);
        options = g_strjoinv(" ", mount->oci->options);
        ck_assert_str_eq(options, restrictions[_i].expected);
        ck_assert_uint_eq(mount->flags & ~(unsigned long) MS_REC, restrictions[_i].flags);
}
END_TEST

/*
 * What comes on top
 */

/* CDI: what was asked for on a place goes for what is there instead. */
START_TEST(test_replaces) {
        g_auto(Planned) planned = { 0 };
        MountPlan *plan = make_plan(WORDS("-v", "/s:/a:O", "-v", "/s:/b", "--tmpfs=/c", "i"), &planned);
        static const char *const options[] = { "ro", "rbind", NULL };

        mount_plan_replace(plan, oci_mount_new("/a", "bind", "/cdi", options));
        mount_plan_replace(plan, oci_mount_new("/new", "bind", "/cdi", options));
        mount_plan_print(plan, planned.spec);
        ck_assert(mount_plan_divide(plan, true, NULL));
        g_autofree char *text = describe(plan);
        ck_assert_str_eq(text,
                         ALL "bind /b rec,private *\n" TMPFS("/c") " *\nlibcrun /new ro,rec\nlast /a ro,rec *\n");
        ck_assert_str_eq(mount_plan_find(plan, "/a")->oci->source, "/cdi");
        ck_assert_uint_eq(planned.spec->mounts_len, plan->n_mounts);
}
END_TEST

/* Hooks: the requests of the places that are still there stay. An overlay that a hook wants otherwise is none. */
START_TEST(test_takes) {
        g_auto(Planned) planned = { 0 };
        MountPlan *plan = make_plan(WORDS("-v", "/s:/a:O", "-v", "/s:/b", "i"), &planned);
        g_autoptr(MountPlan) hooks = mount_plan_new();
        g_autoptr(Spec) after = g_new0(Spec, 1);
        g_autoptr(GError) error = NULL;

        add(hooks, "/proc", "proc", "nosuid");
        add(hooks, "/a", "bind", "ro");
        add(hooks, "/new", "bind", "ro");
        mount_plan_print(hooks, after);
        mount_plan_take(plan, after);
        ck_assert(mount_plan_divide(plan, true, NULL));
        g_autofree char *text = describe(plan);
        ck_assert_str_eq(text, "kernel /proc nosuid\nbind /a ro *\nbind /new ro\n");
        ck_assert_ptr_null(mount_plan_find(plan, "/b"));

        oci_mount_add_option(after->mounts[1], "rslave");
        mount_plan_take(plan, after);
        ck_assert(!mount_plan_divide(plan, true, &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot mount '/source' with these options");
}
END_TEST

TEST_MAIN("mount-plan", {
        tcase_add_loop_test(tcase, test_plans, 0, G_N_ELEMENTS(plans));
        tcase_add_test(tcase, test_lists);
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_loop_test(tcase, test_restrictions, 0, G_N_ELEMENTS(restrictions));
        tcase_add_test(tcase, test_replaces);
        tcase_add_test(tcase, test_takes);
})
