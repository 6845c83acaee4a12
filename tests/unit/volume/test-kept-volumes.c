/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/mount-request.h"
#include "libstart/volume/kept-volumes.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *container, *path, *name;
} names[] = {
        { "systemd-db", "/var/lib/postgresql/data", "systemd-db_image-var-lib-postgresql-data" },
        { "a", "/b-c", "a_image-b_2dc" },
        { "a", "/b/c", "a_image-b-c" },
        { "a", "/b_2dc", "a_image-b_5f2dc" },
        { "app@one", "/x y\n", "app_40one_image-x_20y_0a" },
        { "a", "/.x/\xc3\xa4", "a_image-.x-_c3_a4" },
        /* Each of these would be the other's, were nothing escaped. */
        { "a", "/image-b", "a_image-image_2db" },
        { "a_image", "/b", "a_5fimage_image-b" },
        { "a", "/_image-b", "a_image-_5fimage_2db" },
        { "a_image-", "/b", "a_5fimage-_image-b" },
};

START_TEST(test_name) {
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *name = kept_volume_name(names[i].container, names[i].path);

                ck_assert_str_eq(name, names[i].name);
        }
}
END_TEST

static GPtrArray *mounts_new(void) {
        return g_ptr_array_new_with_free_func((GDestroyNotify) mount_request_free);
}

START_TEST(test_only_where_nothing_is) {
        char *paths[] = {
                (char *) "/", (char *) "/data", (char *) "/dev/x", (char *) "/logs", (char *) "/proc", NULL
        };
        g_autoptr(GPtrArray) mounts = mounts_new();
        const MountRequest *added;

        g_ptr_array_add(mounts, mount_request_parse_volume("named:/logs:ro", NULL));
        ck_assert(kept_volumes_add(mounts, "c", paths, NULL));
        ck_assert_uint_eq(mounts->len, 2);
        added = mounts->pdata[1];
        ck_assert_int_eq(added->type, MOUNT_VOLUME);
        ck_assert_str_eq(added->source, "c_image-data");
        ck_assert_str_eq(added->destination, "/data");
        ck_assert(mount_request_has_option(added, "nosuid") && mount_request_has_option(added, "nodev"));
        ck_assert(kept_volumes_add(mounts, "c", NULL, NULL));
        ck_assert_uint_eq(mounts->len, 2);
}
END_TEST

START_TEST(test_too_long) {
        g_autofree char *tail = g_strnfill(250, 'x'), *path = g_strconcat("/", tail, NULL);
        char *paths[] = { path, NULL };
        g_autoptr(GPtrArray) mounts = mounts_new();
        g_autoptr(GError) error = NULL;

        ck_assert(!kept_volumes_add(mounts, "c", paths, &error));
        ck_assert(g_error_matches(error, KT_ERROR, KT_ERROR_USAGE));
        ck_assert_ptr_nonnull(strstr(error->message, "set Volume="));
        ck_assert_uint_eq(mounts->len, 0);
}
END_TEST

TEST_MAIN("kept-volumes", {
        tcase_add_test(tcase, test_name);
        tcase_add_test(tcase, test_only_where_nothing_is);
        tcase_add_test(tcase, test_too_long);
})
