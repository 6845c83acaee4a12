/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libstart/base/paths.h"
#include "libstart/store/used-ids.h"
#include "libstart/userns/id-assignment.h"
#include "libstart/userns/subid.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/test-main.h"

static GArray *ranges(guint n, const IdRange *from) {
        GArray *array = g_array_new(FALSE, FALSE, sizeof(IdRange));

        g_array_append_vals(array, from, n);
        return array;
}

START_TEST(test_the_highest_free_ids_are_chosen) {
        static const IdRange all[] = { { 100, 50 }, { 1000, 100 } };
        static const IdRange taken[] = { { 1090, 20 }, { 1050, 5 }, { 90, 15 } };
        g_autoptr(GArray) available = ranges(2, all), none = ranges(0, NULL), used = ranges(3, taken);
        guint32 first = 7;

        ck_assert(id_ranges_choose_free(available, none, 100, &first) && first == 1000);
        ck_assert(id_ranges_choose_free(available, none, 10, &first) && first == 1090);
        ck_assert(id_ranges_choose_free(available, used, 10, &first) && first == 1080);
        ck_assert(id_ranges_choose_free(available, used, 35, &first) && first == 1055);
        ck_assert(id_ranges_choose_free(available, used, 36, &first) && first == 1014);
        ck_assert(id_ranges_choose_free(available, used, 50, &first) && first == 1000);
        first = 7;
        ck_assert(!id_ranges_choose_free(available, used, 51, &first) && first == 7);
}
END_TEST

START_TEST(test_the_end_of_all_ids_is_no_obstacle) {
        static const IdRange all[] = { { 2147483647, 2147483648 } };
        g_autoptr(GArray) available = ranges(1, all), none = ranges(0, NULL), whole = ranges(1, all);
        guint32 first;

        ck_assert(id_ranges_choose_free(available, none, 1024, &first) && first == G_MAXUINT32 - 1024);
        ck_assert(!id_ranges_choose_free(available, whole, 1, &first));
}
END_TEST

START_TEST(test_ids_are_counted) {
        ck_assert_uint_eq(passwd_text_count_ids(""), 0);
        ck_assert_uint_eq(passwd_text_count_ids("root:x:0:0:root:/root:/bin/sh\n"), 1);
        ck_assert_uint_eq(passwd_text_count_ids("a:x:5:2000::/:/bin/sh\nb:x:1500:3\nnobody:x:65534:65534::/:\n"),
                          2001);
        ck_assert_uint_eq(passwd_text_count_ids("nogroup:x:70000:\nodd:x:65534:1\n"), 2);
        ck_assert_uint_eq(passwd_text_count_ids("users:x:100:1,2,3\n"), 101);
        ck_assert_uint_eq(passwd_text_count_ids(":::\nx\n::-1:\nx:x:4294967295:\ny:y:99999999999:\n"), 0);
}
END_TEST

START_TEST(test_subids_are_found_by_name) {
        static const char text[] = "alice:100000:65536\n# containers:1:1\ncontainers:2147483647:2147483648\n"
                                   "containers:500:10\ncontainers:x:10\ncontainers:7:0\ncontainers:1:2:3\n";
        g_autoptr(GArray) found = subid_parse(text, "containers"), none = subid_parse(text, "bob");
        const IdRange *range = (const IdRange *) (void *) found->data;

        ck_assert_uint_eq(none->len, 0);
        ck_assert_uint_eq(found->len, 2);
        ck_assert(range[0].first == 2147483647 && range[0].count == 2147483648);
        ck_assert(range[1].first == 500 && range[1].count == 10);
}
END_TEST

START_TEST(test_podmans_ids_are_read) {
        static const char text[] =
                "[{\"id\":\"a\",\"uidmap\":[{\"container_id\":0,\"host_id\":2147483647,\"size\":1024}],"
                "\"gidmap\":[{\"container_id\":0,\"host_id\":5,\"size\":6},"
                "{\"container_id\":9,\"host_id\":7,\"size\":8}]},{\"id\":\"b\"}]";
        g_autoptr(GArray) uids = ranges(0, NULL), gids = ranges(0, NULL);
        g_autoptr(GError) error = NULL;

        ck_assert(used_ids_parse(text, sizeof text - 1, false, uids, gids, &error));
        ck_assert(uids->len == 1 && g_array_index(uids, IdRange, 0).first == 2147483647);
        ck_assert(gids->len == 2 && g_array_index(gids, IdRange, 1).count == 8);
        ck_assert(used_ids_parse("", 0, false, uids, gids, NULL));
        ck_assert(!used_ids_parse("[{\"uidmap\":[{\"host_id\":-1,\"size\":1}]}]", 40, false, uids, gids, &error));
        ck_assert(error);
}
END_TEST

#define NOBODYS_UNIT "keyturn-test-of-nobody"

/* What a container with this layer would get. */
static bool find(const char *layer, GError **error) {
        const char *const layers[] = { layer, NULL };
        const UsernsRequest request = { .mode = USERNS_AUTO, .text = "auto" };
        const IdAssignment wanted = {
                .name = "n",
                .unit = NOBODYS_UNIT,
                .request = &request,
                .layers = (char *const *) layers,
                .is_shown = true,
        };
        g_autoptr(GArray) uids = NULL, gids = NULL;

        return id_assignment_find(&wanted, &uids, &gids, error);
}

/* Its ids stay: others would be written over them. */
START_TEST(test_an_own_record_that_cannot_be_opened) {
        const struct rlimit none = { 0 };
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        ck_assert(!find("/", &error));
        expect_error(error, KT_ERROR_FAILED, PATH_IDS "/" NOBODYS_UNIT);
}
END_TEST

/* A size that is too small would be noted, and kept. */
START_TEST(test_users_that_cannot_be_read) {
        g_autofree char *layer = g_dir_make_tmp("keyturn-ids-XXXXXX", NULL),
                        *etc = g_build_filename(layer, "etc", NULL), *passwd = g_build_filename(etc, "passwd", NULL);
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(g_mkdir(etc, 0755), 0);
        ck_assert(g_file_set_contents(passwd, "", 0, NULL));
        ck_assert_int_eq(truncate(passwd, 5 << 20), 0);
        ck_assert(!find(layer, &error));
        expect_error(error, KT_ERROR_FAILED, "/etc/passwd' is over 4 MiB");
        ck_assert(g_remove(passwd) == 0 && g_remove(etc) == 0 && g_remove(layer) == 0);
}
END_TEST

START_TEST(test_ids_of_layers) {
        g_autofree char *store = g_dir_make_tmp("keyturn-ids-XXXXXX", NULL),
                        *lists = g_build_filename(store, "overlay-layers", NULL),
                        *list = g_build_filename(lists, "layers.json", NULL),
                        *layer = g_build_filename(store, "overlay/a/diff", NULL);
        char *const layers[] = { layer, NULL };
        g_autoptr(GError) error = NULL;
        guint32 behind = 7;

        ck_assert(used_ids_of_layers(layers, &behind, NULL) && behind == 7);
        ck_assert_int_eq(g_mkdir(lists, 0755), 0);
        ck_assert(g_file_set_contents(list, "[{\"id\":\"a\",\"uidset\":[0,2000],\"gidset\":[5]}]", -1, NULL));
        ck_assert(used_ids_of_layers(layers, &behind, NULL) && behind == 2001);
        ck_assert(g_file_set_contents(list, "[{\"id\":\"a\"", -1, NULL));
        ck_assert(!used_ids_of_layers(layers, &behind, &error));
        ck_assert_msg(strstr(error->message, list), "%s", error->message);
        ck_assert(g_remove(list) == 0 && g_remove(lists) == 0 && g_remove(store) == 0);
}
END_TEST

TEST_MAIN("id-assignment", {
        tcase_add_test(tcase, test_the_highest_free_ids_are_chosen);
        tcase_add_test(tcase, test_the_end_of_all_ids_is_no_obstacle);
        tcase_add_test(tcase, test_ids_are_counted);
        tcase_add_test(tcase, test_subids_are_found_by_name);
        tcase_add_test(tcase, test_podmans_ids_are_read);
        tcase_add_test(tcase, test_an_own_record_that_cannot_be_opened);
        tcase_add_test(tcase, test_users_that_cannot_be_read);
        tcase_add_test(tcase, test_ids_of_layers);
})
