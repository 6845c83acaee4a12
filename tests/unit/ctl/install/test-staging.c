/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/string-order.h"
#include "libstart/ctl/install/application.h"
#include "libstart/ctl/install/staging.h"
#include "tests/unit/ctl/print-command.h"

static Staging staging;

static void setup(void) {
        make_work();
        staging.path = g_build_filename(work, "out", NULL);
        staging.files = g_ptr_array_new_with_free_func(g_free);
        staging.left = g_ptr_array_new_with_free_func(g_free);
        write_file("out/keep", "");
        write_file("in/sub/a.txt", "");
        write_file("in/web.env", "");
        write_file("in/data@.volume", "[Volume]\n");
        write_file("in/lan.network", "[Network]\n");
        write_file("in/pod.yaml", "");
        write_file("secret", "");
}

static void teardown(void) {
        staging_clear(&staging);
        remove_work();
}

/* What of them is there, sorted. */
static char *list(void) {
        g_ptr_array_sort(staging.files, string_order);
        g_ptr_array_add(staging.files, NULL);
        for (guint i = 0; i + 1 < staging.files->len; i++) {
                g_autofree char *path = g_build_filename(staging.path, staging.files->pdata[i], NULL);

                ck_assert(g_file_test(path, G_FILE_TEST_IS_REGULAR));
        }
        return g_strjoinv(" ", (char **) staging.files->pdata);
}

/* What a file names comes along, and nothing from above its directory. */
static const struct {
        const char *text;
        const char *files; /* beside itself */
        const char *left;  /* NULL: none */
} quadlets[] = {
        { "[Container]\nImage=a\n", "", NULL },
        { "[Container]\nEnvironmentFile=web.env\n", " web.env", NULL },
        { "[Container]\n  EnvironmentFile = web.env\n", " web.env", NULL },
        { "[Container]\nEnvironmentFile=./web.env\r\n", " web.env", NULL },
        { "[Container]\nVolume=./sub:/srv:ro\n", " sub/a.txt", NULL },
        { "[Container]\nVolume=data@one.volume:/data\nNetwork=lan.network\n", " data@.volume lan.network", NULL },
        { "[Container]\nVolume=./../secret:/s\nEnvironmentFile=../secret\n", "", NULL },
        { "[Container]\nVolume=./sub/../../secret:/s\n", "", NULL },
        { "[Container]\nVolume=./%i:/s\nVolume=./gone:/g\nVolume=web.env:/e\n", "", NULL },
        { "#EnvironmentFile=web.env\n  # EnvironmentFile=web.env\n", "", NULL },
        { ";EnvironmentFile=web.env\n", "", NULL },
        { "[Kube]\nYaml=pod.yaml\n", "", "pod.yaml" },
        { "[Kube]\n Yaml=pod.yaml\n", "", "pod.yaml" },
        { "[Kube]\nYaml=./pod.yaml\n", " pod.yaml", NULL },
};

START_TEST(test_quadlet) {
        g_autofree char *source = g_build_filename(work, "in/a.container", NULL),
                        *expected = g_strconcat("a.container", quadlets[_i].files, NULL), *files = NULL;

        write_file("in/a.container", quadlets[_i].text);
        ck_assert(staging_add(&staging, source, NULL));
        ck_assert_pstr_eq(staging_find_left(&staging), quadlets[_i].left);
        files = list();
        ck_assert_str_eq(files, expected);
}
END_TEST

START_TEST(test_dropins) {
        g_autofree char *source = g_build_filename(work, "in/a.container", NULL), *files = NULL;

        write_file("in/a.container", "");
        write_file("in/a.container.d/x.conf", "");
        write_file("in/a.container.d/.git/x", "");
        ck_assert(staging_add(&staging, source, NULL));
        files = list();
        ck_assert_str_eq(files, "a.container a.container.d/x.conf");
}
END_TEST

static const struct {
        const char *file; /* that there is */
        const char *link; /* to something, or NULL */
        const char *source, *error;
} wrong[] = {
        { "in/x", NULL, "gone.container", "There is no file '" },
        { "in/x", "in/link", "in", "is neither a file nor a directory" },
        { "in/a\nb", NULL, "in", "A file's name has a line break" },
        { "in/a.quadlets", NULL, "in/a.quadlets", "a.quadlets': " },
};

START_TEST(test_wrong) {
        g_autofree char *source = g_build_filename(work, wrong[_i].source, NULL),
                        *link = wrong[_i].link ? g_build_filename(work, wrong[_i].link, NULL) : NULL;
        g_autoptr(GError) error = NULL;

        write_file(wrong[_i].file, "");
        if (link)
                ck_assert_int_eq(symlink("/etc/passwd", link), 0);
        ck_assert(!staging_add(&staging, source, &error));
        ck_assert_msg(strstr(error->message, wrong[_i].error), "%s", error->message);
}
END_TEST

static const struct {
        const char *name;
        bool is_good;
} names[] = {
        { "web", true }, { "0-a_b.c@d", true }, { "", false },    { ".", false },    { "..", false },
        { "-a", false }, { "a/b", false },      { "a b", false }, { "a\nb", false }, { "\xc3\xa4", false },
};

START_TEST(test_name) {
        g_autoptr(GError) error = NULL;

        ck_assert(application_check_name(names[_i].name, &error) == names[_i].is_good);
        if (!names[_i].is_good)
                expect_error(error, KT_ERROR_USAGE, "is no name of an application");
}
END_TEST

static const struct {
        const char *text; /* NULL: there is none */
        int n;            /* of files; -1: an error */
} lists[] = {
        { NULL, 0 },      { "", 0 },           { "\n\n", 0 },   { "a\nb/c\n", 2 }, { "a", 1 },       { "/a\n", -1 },
        { "../a\n", -1 }, { "a/../../b", -1 }, { "a/./b", -1 }, { "a/\n", -1 },    { "a//b\n", -1 }, { ".\n", -1 },
};

START_TEST(test_list) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) files = NULL;

        if (lists[_i].text)
                write_file(APPLICATION_LIST, lists[_i].text);
        files = application_list(work, &error);
        ck_assert_int_eq(files ? (int) files->len : -1, lists[_i].n);
        if (!files)
                expect_error(error, KT_ERROR_FAILED, "is no file in there");
}
END_TEST

/* What others have put there stays, whatever leads there. */
START_TEST(test_remove) {
        static const char list_text[] = "a\nsub/b\ngone\nlink/secret\n";
        g_autofree char *path = g_build_filename(work, "in", NULL), *link = g_build_filename(path, "link", NULL),
                        *secret = g_build_filename(work, "secret", NULL), *a = g_build_filename(path, "a", NULL);
        g_autoptr(GPtrArray) files = NULL;
        g_autoptr(GError) error = NULL;

        write_file("in/a", "");
        write_file("in/sub/b", "");
        write_file("in/" APPLICATION_LIST, list_text);
        ck_assert_int_eq(symlink("..", link), 0);
        files = application_list(path, NULL);
        ck_assert(!application_remove(path, files, &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot remove 'link/secret'");
        ck_assert(g_file_test(secret, G_FILE_TEST_EXISTS));
        g_ptr_array_set_size(files, 3);
        ck_assert(application_remove(path, files, NULL) && !g_file_test(a, G_FILE_TEST_EXISTS));
        ck_assert(!application_forget(path));
}
END_TEST

START_TEST(test_remove_all) {
        g_autofree char *path = g_build_filename(work, "shop", NULL);
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free), read = NULL;

        write_file("shop/a", "");
        write_file("shop/b/c/d", "");
        g_ptr_array_add(files, g_strdup("a"));
        g_ptr_array_add(files, g_strdup("b/c/d"));
        ck_assert(application_write_list(path, files, NULL));
        read = application_list(path, NULL);
        ck_assert_uint_eq(read->len, 2);
        /* Killed before it is forgotten, it can be removed once more. */
        ck_assert(application_remove(path, read, NULL) && application_remove(path, read, NULL));
        ck_assert(application_forget(path) && !g_file_test(path, G_FILE_TEST_EXISTS));
}
END_TEST

TEST_MAIN("ctl/install/staging", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_loop_test(tcase, test_quadlet, 0, G_N_ELEMENTS(quadlets));
        tcase_add_test(tcase, test_dropins);
        tcase_add_loop_test(tcase, test_wrong, 0, G_N_ELEMENTS(wrong));
        tcase_add_loop_test(tcase, test_name, 0, G_N_ELEMENTS(names));
        tcase_add_loop_test(tcase, test_list, 0, G_N_ELEMENTS(lists));
        tcase_add_test(tcase, test_remove);
        tcase_add_test(tcase, test_remove_all);
})
