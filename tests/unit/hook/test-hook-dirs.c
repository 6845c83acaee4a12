/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/hook/hook-dirs.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/own-tree.h"

static char *root;

static void set_up(void) {
        root = g_dir_make_tmp("keyturn-XXXXXX", NULL);
        unsetenv("CONTAINERS_CONF");
        unsetenv("CONTAINERS_CONF_OVERRIDE");
}

static void tear_down(void) {
        own_tree_remove(root);
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
        own_tree_put(root, USR "b.json", "");
        own_tree_put(root, USR "A.json", "");
        own_tree_put(root, USR "c.json", "");
        own_tree_put(root, USR "c.txt", "");
        own_tree_put(root, ETC "b.json", "");
        own_tree_put(root, ETC "d.json", "");
        text = list(NULL);
        ck_assert_str_eq(text, USR "A.json " ETC "b.json " USR "c.json " ETC "d.json");
}
END_TEST

START_TEST(test_configured) {
        g_autofree char *text = NULL, *commented = NULL;

        own_tree_put(root, USR "a.json", "");
        own_tree_put(root, "/own/b.json", "");
        own_tree_put(root, "/etc/containers/containers.conf", "[engine]\n#hooks_dir = [\"/own\"]\n");
        commented = list(NULL);
        ck_assert_str_eq(commented, USR "a.json");
        own_tree_put(root, "/etc/containers/containers.conf.d/x.conf",
                     "[engine]\n \t# hooks_dir\n hooks_dir = [\"/none\", \"/own\"]\n");
        text = list(NULL);
        ck_assert_str_eq(text, "/own/b.json");
}
END_TEST

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;

        own_tree_put(root, "/etc/containers/containers.conf", "[engine]\nhooks_dir = \"/own\"\n");
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
