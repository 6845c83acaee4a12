/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/seccomp/obtain.h"
#include "libstart/seccomp/profile-file.h"
#include "tests/unit/seccomp/miniature-root.h"
#include "tests/unit/test-main.h"

#define ETC "/etc/containers/"
#define USR "/usr/share/containers/"

#define CONF(path) "[containers]\nseccomp_profile = \"" path "\"\n"

/* Files in a root, and the profile that a container has there, or the start of what is said. */
static const struct {
        RootFile files[6];
        const char *profile;
        const char *message;
} cases[] = {
        { {}, NULL, "There is no seccomp profile: " },
        { { { USR "seccomp.json", "" } }, USR "seccomp.json", NULL },
        { { { USR "seccomp.json", "" }, { ETC "seccomp.json", "" } }, ETC "seccomp.json", NULL },
        { { { USR "seccomp.json", "" }, { ETC "seccomp.json", "" }, { USR "containers.conf", CONF("/a.json") } },
          "/a.json",
          NULL },
        { { { USR "containers.conf", CONF("/a.json") }, { ETC "containers.conf", CONF("/b.json") } },
          "/b.json",
          NULL },
        { { { USR "containers.conf", CONF("/a.json") }, { ETC "containers.conf", "[containers]\npids_limit = 3\n" } },
          "/a.json",
          NULL },
        { { { ETC "containers.conf", CONF("/b.json") },
            { ETC "containers.conf.d/20.conf", CONF("/d.json") },
            { ETC "containers.conf.d/10.conf", CONF("/c.json") },
            { ETC "containers.conf.d/30.txt", CONF("/e.json") } },
          "/d.json",
          NULL },
        { { { ETC "containers.conf", CONF("/b.json") },
            { ETC "containers.conf.d/20.conf", CONF("") },
            { USR "seccomp.json", "" } },
          USR "seccomp.json",
          NULL },
        { { { ETC "containers.conf", "seccomp_profile = \"/wrong-table.json\"\n" }, { USR "seccomp.json", "" } },
          USR "seccomp.json",
          NULL },
        { { { ETC "containers.conf", CONF("unconfined") }, { USR "seccomp.json", "" } },
          NULL,
          "containers.conf says seccomp_profile = \"unconfined\": " },
        { { { ETC "containers.conf", CONF("here.json") } },
          NULL,
          "Cannot find out the default seccomp profile: /etc/containers/containers.conf:2: the "
          "seccomp profile "
          "'here.json' is no absolute path" },
        { { { ETC "containers.conf", "[containers]\nseccomp_profile = [\"/a\"]\n" } },
          NULL,
          "Cannot find out the default seccomp profile: /etc/containers/containers.conf:2: "
          "'seccomp_profile' is no "
          "string" },
        { { { ETC "containers.conf", "[containers\n" } },
          NULL,
          "Cannot find out the default seccomp profile: /etc/containers/containers.conf:1: " },
        { { { ETC "containers.conf/", NULL } }, NULL, "Cannot find out the default seccomp profile: " },
};

START_TEST(test_default_profile) {
        char *root = root_make(cases[_i].files);
        g_autoptr(GError) error = NULL;
        g_autofree char *profile = seccomp_default_profile_path(root, &error);

        root_remove(root);
        ck_assert_pstr_eq(profile, cases[_i].profile);
        if (cases[_i].message)
                ck_assert_msg(g_str_has_prefix(error->message, cases[_i].message), "%s", error->message);
}
END_TEST

/* Whatever is wrong with a profile, there is no filter and there is an error that names the file. */
static const struct {
        RootFile files[2];
        const char *profile;
        const char *message;
} unusable[] = {
        { {}, "/p.json", "Cannot open seccomp profile '/p.json': No such file or directory" },
        { { { "/p.json/", NULL } }, "/p.json", "seccomp profile '/p.json' is not a regular file" },
        { { { "/p.json", "{}" } },
          "/p.json",
          "seccomp profile '/p.json': neither 'defaultAction' nor 'syscalls' are there; a container "
          "without a filter "
          "is spelt seccomp=unconfined" },
        { { { "/p.json", "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"architectures\": [\"SCMP_ARCH_VAX\"]}" } },
          "/p.json",
          "seccomp profile '/p.json': 'SCMP_ARCH_VAX' is no architecture that libseccomp knows" },
        { { { USR "seccomp.json", "[" } }, NULL, "seccomp profile '" USR "seccomp.json': line 1: not JSON: " },
        { {}, NULL, "There is no seccomp profile: " },
};

START_TEST(test_unusable_profile) {
        char *root = root_make(unusable[_i].files);
        g_autoptr(GError) error = NULL;
        SeccompOrigin origin;

        ck_assert_ptr_null(seccomp_filter_for(root, unusable[_i].profile, 0, &origin, &error));
        root_remove(root);
        ck_assert_msg(g_str_has_prefix(error->message, unusable[_i].message), "%s", error->message);
}
END_TEST

START_TEST(test_fifo_does_not_hold_up) {
        char *root = root_make((RootFile[]) { {} }), *path = g_strconcat(root, "/p.json", NULL);
        g_autoptr(GError) error = NULL;
        SeccompOrigin origin;

        ck_assert_int_eq(mkfifo(path, 0600), 0);
        ck_assert_ptr_null(seccomp_filter_for(root, "/p.json", 0, &origin, &error));
        root_remove(root);
        ck_assert_str_eq(error->message, "seccomp profile '/p.json' is not a regular file");
}
END_TEST

TEST_MAIN("profile-file", {
        tcase_add_loop_test(tcase, test_default_profile, 0, G_N_ELEMENTS(cases));
        tcase_add_loop_test(tcase, test_unusable_profile, 0, G_N_ELEMENTS(unusable));
        tcase_add_test(tcase, test_fifo_does_not_hold_up);
})
