/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a start gets, whatever has become of the filter that was compiled for it: always the filter of its
 * profile. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/seccomp/cache-file.h"
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/obtain.h"
#include "tests/unit/seccomp/miniature-root.h"
#include "tests/unit/test-main.h"

#define ETC "/etc/containers/"
#define USR "/usr/share/containers/"

#define PROFILE(call)                                                                 \
        "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [{\"names\": [\"" call \
        "\"], \"action\": \"SCMP_ACT_ALLOW\"}]}"

#define CAPS G_GUINT64_CONSTANT(0xa80425fb)

static char *root;
static SeccompCacheKey key;
static char *cached; /* the file on "/run" */

static const RootFile files[] = { { USR "seccomp.json", PROFILE("getpid") }, { "/p.json", PROFILE("gettid") }, {} };

static void setup(void) {
        SeccompTarget target = seccomp_target_here(CAPS);

        root = root_make(files);
        root_settle();
        seccomp_cache_key_init(&key, NULL, &target);
        cached = g_strconcat(root, PATH_SECCOMP "/", key.name, NULL);
}

static void teardown(void) {
        g_autofree char *run = g_strconcat(root, "/run", NULL);

        (void) umount(run); /* where the test has mounted one */
        root_remove(root);
        g_free(cached);
}

static GBytes *compile(const char *text) {
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse(text, strlen(text), NULL);
        SeccompTarget target = seccomp_target_here(CAPS);

        return seccomp_filter_compile(profile, &target, NULL);
}

/* Asks as libstart does, and checks that what it gets is the filter of `text` and how it came by it. */
static void expect(const char *profile, const char *text, bool compiled, bool damaged) {
        g_autoptr(GBytes) wanted = compile(text), filter = NULL;
        g_auto(SeccompOrigin) origin = { 0 };
        g_autoptr(GError) error = NULL;

        filter = seccomp_filter_for(root, profile, CAPS, &origin, &error);
        ck_assert_msg(filter, "%s", error ? error->message : "");
        ck_assert(g_bytes_equal(filter, wanted));
        ck_assert_msg(origin.compiled == compiled, "compiled: %d, because: %s", origin.compiled,
                      origin.why ? origin.why : "-");
        ck_assert_msg(origin.damaged == damaged, "damaged: %d, because: %s", origin.damaged,
                      origin.why ? origin.why : "-");
        if (compiled)
                ck_assert_ptr_nonnull(origin.why);
}

START_TEST(test_first_and_second_start) {
        expect(NULL, PROFILE("getpid"), true, false);
        expect(NULL, PROFILE("getpid"), false, false);
        expect("/p.json", PROFILE("gettid"), true, false);
        expect("/p.json", PROFILE("gettid"), false, false);
        expect(NULL, PROFILE("getpid"), false, false);
}
END_TEST

/* What has become of the file; none of it may be believed, and none may hold up the start. */
static void truncate_it(void) {
        ck_assert_int_eq(truncate(cached, 300), 0);
}

static void empty_it(void) {
        ck_assert_int_eq(truncate(cached, 0), 0);
}

static void flip_a_bit(void) {
        int fd = open(cached, O_RDWR | O_CLOEXEC);
        char byte;

        ck_assert(pread(fd, &byte, 1, 250) == 1);
        byte ^= 0x10;
        ck_assert(pwrite(fd, &byte, 1, 250) == 1);
        close(fd);
}

static void make_it_huge(void) {
        ck_assert_int_eq(truncate(cached, 1 << 30), 0);
}

static void make_it_garbage(void) {
        ck_assert(g_file_set_contents(cached, "not a filter at all", -1, NULL));
}

static void make_it_a_fifo(void) {
        ck_assert(unlink(cached) == 0 && mkfifo(cached, 0644) == 0);
}

static void make_it_a_directory(void) {
        ck_assert(unlink(cached) == 0 && mkdir(cached, 0755) == 0);
}

/* Even a link to a good file is none: whoever can make links here can make them point anywhere. */
static void make_it_a_link(void) {
        g_autofree char *other = g_strconcat(root, "/other", NULL);

        ck_assert(rename(cached, other) == 0 && symlink(other, cached) == 0);
}

static void make_it_a_broken_link(void) {
        ck_assert(unlink(cached) == 0 && symlink("/nowhere", cached) == 0);
}

static void give_it_away(void) {
        ck_assert_int_eq(chown(cached, 65534, 65534), 0);
}

static void let_all_write(void) {
        ck_assert_int_eq(chmod(cached, 0666), 0);
}

static void let_the_group_write(void) {
        ck_assert_int_eq(chmod(cached, 0664), 0);
}

/* The filter of another profile that lets more through, under this one's name. */
static void swap_it(void) {
        g_auto(SeccompOrigin) origin = { 0 };
        SeccompTarget target = seccomp_target_here(CAPS);
        SeccompCacheKey other;
        g_autoptr(GBytes) filter = seccomp_filter_for(root, "/p.json", CAPS, &origin, NULL);

        seccomp_cache_key_init(&other, "/p.json", &target);
        g_autofree char *path = g_strconcat(root, PATH_SECCOMP "/", other.name, NULL);
        ck_assert(filter && rename(path, cached) == 0);
}

/* The same profile for more capabilities. */
static void swap_it_for_more_capabilities(void) {
        g_auto(SeccompOrigin) origin = { 0 };
        SeccompTarget target = seccomp_target_here(CAPS | 1 << 21);
        SeccompCacheKey other;
        g_autoptr(GBytes) filter = seccomp_filter_for(root, NULL, CAPS | 1 << 21, &origin, NULL);

        seccomp_cache_key_init(&other, NULL, &target);
        g_autofree char *path = g_strconcat(root, PATH_SECCOMP "/", other.name, NULL);
        ck_assert(filter && rename(path, cached) == 0);
}

static const struct {
        const char *name;
        void (*harm)(void);
        bool stays; /* what is there cannot be replaced by a file */
} harms[] = {
        { "truncated", truncate_it },
        { "empty", empty_it },
        { "bit flipped", flip_a_bit },
        { "huge", make_it_huge },
        { "garbage", make_it_garbage },
        { "fifo", make_it_a_fifo },
        { "directory", make_it_a_directory, true },
        { "link", make_it_a_link },
        { "broken link", make_it_a_broken_link },
        { "another owner", give_it_away },
        { "writable for all", let_all_write },
        { "writable for the group", let_the_group_write },
        { "swapped", swap_it },
        { "swapped for more capabilities", swap_it_for_more_capabilities },
};

START_TEST(test_harmed_file) {
        expect(NULL, PROFILE("getpid"), true, false);
        harms[_i].harm();
        expect(NULL, PROFILE("getpid"), true, true);
        /* and has healed by itself */
        expect(NULL, PROFILE("getpid"), harms[_i].stays, harms[_i].stays);
}
END_TEST

/* What may happen to the profile after its filter was compiled. */
static void write_same_size(void) {
        root_write(root, USR "seccomp.json", PROFILE("gettid"));
}

static void write_in_place(void) {
        g_autofree char *path = g_strconcat(root, USR "seccomp.json", NULL);
        struct stat before;
        FILE *file;

        /* Whoever sets the time back cannot set back the time of that. */
        ck_assert_int_eq(stat(path, &before), 0);
        file = fopen(path, "r+e");
        ck_assert(file && fputs(PROFILE("gettid"), file) >= 0 && fclose(file) == 0);
        struct timespec times[] = { before.st_atim, before.st_mtim };
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void add_profile_in_etc(void) {
        root_write(root, ETC "seccomp.json", PROFILE("gettid"));
}

static void name_another_in_conf(void) {
        root_write(root, ETC "containers.conf", "[containers]\nseccomp_profile = \"/p.json\"\n");
}

static void name_another_in_vendor_conf(void) {
        root_write(root, USR "containers.conf", "[containers]\nseccomp_profile = \"/p.json\"\n");
}

static void name_another_in_dropin(void) {
        root_write(root, ETC "containers.conf.d/10-p.conf", "[containers]\nseccomp_profile = \"/p.json\"\n");
}

static void link_to_another(void) {
        g_autofree char *path = g_strconcat(root, USR "seccomp.json", NULL),
                        *other = g_strconcat(root, "/p.json", NULL);

        ck_assert(unlink(path) == 0 && symlink(other, path) == 0);
}

static void (*const changes[])(void) = {
        write_same_size,
        write_in_place,
        add_profile_in_etc,
        name_another_in_conf,
        name_another_in_vendor_conf,
        name_another_in_dropin,
        link_to_another,
};

START_TEST(test_changed_profile) {
        expect(NULL, PROFILE("getpid"), true, false);
        expect(NULL, PROFILE("getpid"), false, false);
        changes[_i]();
        root_settle();
        expect(NULL, PROFILE("gettid"), true, true);
        expect(NULL, PROFILE("gettid"), false, false);
}
END_TEST

START_TEST(test_changed_dropin) {
        name_another_in_dropin();
        root_settle();
        expect(NULL, PROFILE("gettid"), true, false);
        root_write(root, ETC "containers.conf.d/10-p.conf", "");
        root_settle();
        expect(NULL, PROFILE("getpid"), true, true);
}
END_TEST

/* A profile that has only just been written may be written again without its time showing it. */
START_TEST(test_unsettled_profile_is_not_kept) {
        gint64 begun;
        bool kept;

        /* A machine that is slow, or emulated, may look when it has settled. */
        do {
                (void) unlink(cached);
                begun = g_get_monotonic_time();
                root_write(root, USR "seccomp.json", PROFILE("gettid"));
                expect(NULL, PROFILE("gettid"), true, false);
                kept = access(cached, F_OK) == 0;
        } while (kept && g_get_monotonic_time() - begun > 20 * 1000);
        ck_assert(!kept);
}
END_TEST

START_TEST(test_removed_profile) {
        g_autofree char *path = g_strconcat(root, USR "seccomp.json", NULL);
        g_autoptr(GError) error = NULL;
        g_auto(SeccompOrigin) origin = { 0 };

        expect(NULL, PROFILE("getpid"), true, false);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_ptr_null(seccomp_filter_for(root, NULL, CAPS, &origin, &error));
        ck_assert(g_error_matches(error, KT_ERROR, KT_ERROR_NOT_FOUND));
}
END_TEST

/* A good filter is no excuse for a profile that has become nonsense. */
START_TEST(test_broken_profile) {
        g_autoptr(GError) error = NULL;
        g_auto(SeccompOrigin) origin = { 0 };

        expect(NULL, PROFILE("getpid"), true, false);
        root_write(root, USR "seccomp.json", "{");
        ck_assert_ptr_null(seccomp_filter_for(root, NULL, CAPS, &origin, &error));
        ck_assert(g_str_has_prefix(error->message, "seccomp profile '" USR "seccomp.json': line 1: not JSON"));
}
END_TEST

/* A /run of its own, for this process. */
static void mount_run(const char *options) {
        g_autofree char *run = g_strconcat(root, "/run", NULL);

        ck_assert(g_mkdir_with_parents(run, 0755) == 0);
        ck_assert_msg(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                              mount("tmpfs", run, "tmpfs", 0, options) == 0,
                      "this test needs to be root: %s", g_strerror(errno));
}

START_TEST(test_full_run) {
        g_autofree char *full = NULL, *filler = g_strnfill(65536, 'x');
        FILE *file;

        mount_run("size=16k");
        full = g_strconcat(root, "/run/full", NULL);
        file = fopen(full, "we");
        (void) fputs(filler, file);
        (void) fclose(file);
        expect(NULL, PROFILE("getpid"), true, false);
        expect(NULL, PROFILE("getpid"), true, false);
}
END_TEST

START_TEST(test_full_run_keeps_what_is_there) {
        g_autofree char *full = NULL, *filler = g_strnfill(65536, 'x');
        FILE *file;

        mount_run("size=16k");
        expect(NULL, PROFILE("getpid"), true, false);
        full = g_strconcat(root, "/run/full", NULL);
        file = fopen(full, "we");
        (void) fputs(filler, file);
        (void) fclose(file);
        expect(NULL, PROFILE("getpid"), false, false);
        add_profile_in_etc();
        root_settle();
        expect(NULL, PROFILE("gettid"), true, true);
        expect(NULL, PROFILE("gettid"), true, true);
}
END_TEST

START_TEST(test_read_only_run) {
        g_autofree char *run = g_strconcat(root, "/run", NULL);

        mount_run("size=1m");
        ck_assert_int_eq(mount(NULL, run, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
        expect(NULL, PROFILE("getpid"), true, false);
}
END_TEST

/* What seccomp-precompile --output leaves in a system image. */
static void put_into_image(void) {
        g_autofree char *dir = g_strconcat(root, PATH_SECCOMP_LIB, NULL);
        g_auto(SeccompBuild) build = { 0 };

        ck_assert(seccomp_build(root, &key, &build, NULL));
        memset(build.entry->header.sources, 0, sizeof build.entry->header.sources);
        ck_assert(seccomp_cache_write(dir, key.name, build.entry, NULL));
}

START_TEST(test_filter_of_the_image) {
        put_into_image();
        expect(NULL, PROFILE("getpid"), false, false);
        ck_assert_int_eq(access(cached, F_OK), 0); /* from now on without reading the profile */
}
END_TEST

START_TEST(test_filter_of_the_image_for_another_text) {
        put_into_image();
        add_profile_in_etc();
        root_settle();
        expect(NULL, PROFILE("gettid"), true, false);
}
END_TEST

START_TEST(test_damaged_filter_of_the_image) {
        g_autofree char *path = g_strconcat(root, PATH_SECCOMP_LIB "/", key.name, NULL);

        put_into_image();
        ck_assert_int_eq(truncate(path, 200), 0);
        expect(NULL, PROFILE("getpid"), true, false);
}
END_TEST

/* The image's files have no sources; put into /run, they must not match anything. */
START_TEST(test_filter_of_the_image_in_run) {
        g_autofree char *path = g_strconcat(root, PATH_SECCOMP_LIB "/", key.name, NULL),
                        *dir = g_path_get_dirname(cached);

        put_into_image();
        ck_assert(g_mkdir_with_parents(dir, 0755) == 0 && rename(path, cached) == 0);
        expect(NULL, PROFILE("getpid"), true, true);
}
END_TEST

TEST_MAIN("seccomp", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_first_and_second_start);
        tcase_add_loop_test(tcase, test_harmed_file, 0, G_N_ELEMENTS(harms));
        tcase_add_loop_test(tcase, test_changed_profile, 0, G_N_ELEMENTS(changes));
        tcase_add_test(tcase, test_changed_dropin);
        tcase_add_test(tcase, test_unsettled_profile_is_not_kept);
        tcase_add_test(tcase, test_removed_profile);
        tcase_add_test(tcase, test_broken_profile);
        tcase_add_test(tcase, test_full_run);
        tcase_add_test(tcase, test_full_run_keeps_what_is_there);
        tcase_add_test(tcase, test_read_only_run);
        tcase_add_test(tcase, test_filter_of_the_image);
        tcase_add_test(tcase, test_filter_of_the_image_for_another_text);
        tcase_add_test(tcase, test_damaged_filter_of_the_image);
        tcase_add_test(tcase, test_filter_of_the_image_in_run);
})
