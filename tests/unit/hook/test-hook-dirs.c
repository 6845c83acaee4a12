/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/hook/hook-dirs.h"
#include "tests/unit/base/expect-error.h"

static char *root;

static void set_up(void) {
        root = g_dir_make_tmp("keyturn-XXXXXX", NULL);
        unsetenv("CONTAINERS_CONF");
        unsetenv("CONTAINERS_CONF_OVERRIDE");
}

static void tear_down(void) {
        g_autofree char *command = g_strconcat("rm -rf ", root, NULL);

        ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): a directory of our own */
        g_clear_pointer(&root, g_free);
}

static void put(const char *path, const char *text) {
        g_autofree char *full = g_build_filename(root, path, NULL), *directory = g_path_get_dirname(full);

        g_mkdir_with_parents(directory, 0755);
        ck_assert(g_file_set_contents(full, text, -1, NULL));
}

static char *list(GError **error) {
        g_autoptr(GPtrArray) paths = hook_dirs_list(root, NULL, error);

        if (!paths)
                return NULL;
        g_ptr_array_add(paths, NULL);
        return g_strjoinv(" ", (char **) paths->pdata);
}

#define USR "/usr/share/containers/oci/hooks.d/"
#define ETC "/etc/containers/oci/hooks.d/"

START_TEST(test_defaults) {
        g_autofree char *nothing = list(NULL), *text = NULL;

        ck_assert_str_eq(nothing, "");
        put(USR "b.json", "");
        put(USR "A.json", "");
        put(USR "c.json", "");
        put(USR "c.txt", "");
        put(ETC "b.json", "");
        put(ETC "d.json", "");
        text = list(NULL);
        ck_assert_str_eq(text, USR "A.json " ETC "b.json " USR "c.json " ETC "d.json");
}
END_TEST

START_TEST(test_configured) {
        g_autofree char *text = NULL, *commented = NULL;

        put(USR "a.json", "");
        put("/own/b.json", "");
        put("/etc/containers/containers.conf", "[engine]\n#hooks_dir = [\"/own\"]\n");
        commented = list(NULL);
        ck_assert_str_eq(commented, USR "a.json");
        put("/etc/containers/containers.conf.d/x.conf",
            "[engine]\n \t# hooks_dir\n hooks_dir = [\"/none\", \"/own\"]\n");
        text = list(NULL);
        ck_assert_str_eq(text, "/own/b.json");
}
END_TEST

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;

        put("/etc/containers/containers.conf", "[engine]\nhooks_dir = \"/own\"\n");
        ck_assert_ptr_null(list(&error));
        expect_error(error, KT_ERROR_FAILED, ":2: engine.hooks_dir is no array");
}
END_TEST

TEST_MAIN("hook-dirs", {
        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, test_defaults);
        tcase_add_test(tcase, test_configured);
        tcase_add_test(tcase, test_bad);
})
