/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *file, *wanted, *service, *error;
} service_cases[] = {
        { "foo.container", NULL, "foo.service" },
        { "foo@.container", NULL, "foo@.service" },
        { "foo@bar.container", NULL, "foo@bar.service" },
        { "a.b.container", NULL, "a.b.service" },
        { "foo.container", "other", "other.service" },
        { "foo.container", "other.service", "other.service" },
        { "foo.container", "other.socket", "other.socket.service" },
        { "a b.container", "fine", "fine.service" },
        { "a b.container", NULL, NULL,
          "'a b.service' is no name of a unit: letters, digits and ':-_.\\@', at most 255 in all" },
        { "foo.container", ".service", NULL,
          "'.service' is no name of a unit: letters, digits and ':-_.\\@', at most 255 in all" },
        { "foo.container", "a/b", NULL,
          "'a/b.service' is no name of a unit: letters, digits and ':-_.\\@', at most 255 in all" },
        { "@x.container", NULL, NULL,
          "'@x.service' is no name of a unit: letters, digits and ':-_.\\@', at most 255 in all" },
        { "seccomp.container", NULL, "seccomp.service" },
        { "foo.container", "relay", "relay.service" },
        { "foo.container", "keyturn-seccomp", NULL,
          "'keyturn-seccomp.service' is a name that keyturn needs itself: rename the file or set ServiceName=" },
        { "keyturn-relay.container", NULL, NULL,
          "'keyturn-relay.service' is a name that keyturn needs itself: rename the file or set ServiceName=" },
        { "web.pod", NULL, "web-pod.service" },
        { "web.pod", "web", "web.service" },
        { "data.volume", NULL, "data-volume.service" },
        { "data@.volume", NULL, "data-volume@.service" },
        { "data@a.b.volume", NULL, "data-volume@a.b.service" },
        { "web@.pod", "web@", "web@.service" },
        { "relay2.container", NULL, "relay2.service" },
};

START_TEST(service) {
        g_autoptr(GError) error = NULL;
        g_autofree char *name = name_service(service_cases[_i].file, service_cases[_i].wanted, &error);

        ck_assert_pstr_eq(name, service_cases[_i].service);
        ck_assert_pstr_eq(error ? error->message : NULL, service_cases[_i].error);
}
END_TEST

static const struct {
        const char *file;
        const char *dirs[10];
} dropin_cases[] = {
        { "foo.container", { "foo.container.d", "container.d" } },
        { "foo-bar.container", { "foo-bar.container.d", "foo-.container.d", "container.d" } },
        { "a-b-c.container", { "a-b-c.container.d", "a-b-.container.d", "a-.container.d", "container.d" } },
        { "foo@.container", { "foo@.container.d", "container.d" } },
        { "foo@i-j.container", { "foo@i-j.container.d", "foo@.container.d", "container.d" } },
        { "foo-bar@.container", { "foo-bar@.container.d", "foo-@.container.d", "foo-.container.d", "container.d" } },
        { "foo-bar@i.container",
          { "foo-bar@i.container.d", "foo-bar@.container.d", "foo-@.container.d", "foo-.container.d",
            "container.d" } },
        { "a.b-c.container", { "a.b-c.container.d", "a.b-.container.d", "container.d" } },
};

START_TEST(dropins) {
        g_autoptr(GPtrArray) dirs = name_dropin_dirs(dropin_cases[_i].file);

        ck_assert_uint_eq(dirs->len, g_strv_length((char **) dropin_cases[_i].dirs));
        for (guint i = 0; i < dirs->len; i++)
                ck_assert_str_eq(dirs->pdata[i], dropin_cases[_i].dirs[i]);
}
END_TEST

START_TEST(parts) {
        g_autofree char *template = name_template_of("a@b.container"), *instance = name_instance("a@.service", "b");

        ck_assert_str_eq(name_suffix("a.b.volume"), ".volume");
        ck_assert_ptr_null(name_suffix("a.service"));
        ck_assert_ptr_null(name_suffix("container"));
        ck_assert_ptr_null(name_suffix(".container"));
        ck_assert_ptr_null(name_suffix("a.container.d"));
        ck_assert(name_is_template("a@.container"));
        ck_assert(!name_is_template("a@b.container"));
        ck_assert(!name_is_template("a.container"));
        ck_assert_str_eq(template, "a@.container");
        ck_assert_ptr_null(name_template_of("a@.container"));
        ck_assert_ptr_null(name_template_of("a.container"));
        ck_assert_str_eq(instance, "a@b.service");
}
END_TEST

START_TEST(lengths) {
        char name[300];

        memset(name, 'a', sizeof name);
        strcpy(name + 247, ".service");
        ck_assert(name_is_unit(name));
        memset(name, 'a', 248);
        strcpy(name + 248, ".service");
        ck_assert(!name_is_unit(name));
        ck_assert(!name_is_unit("a."));
        ck_assert(!name_is_unit("a"));
        ck_assert(name_is_unit("dev-disk-by\\x2duuid:1@2.swap"));
}
END_TEST

TEST_MAIN("names", {
        tcase_add_loop_test(tcase, service, 0, G_N_ELEMENTS(service_cases));
        tcase_add_loop_test(tcase, dropins, 0, G_N_ELEMENTS(dropin_cases));
        tcase_add_test(tcase, parts);
        tcase_add_test(tcase, lengths);
})
