/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "libstart/ctl/commands.h"
#include "tests/unit/ctl/print-command.h"

/* A store with nothing in it. */
static void make_store(void) {
        g_autofree char *path = g_build_filename(work, "storage.conf", NULL);
        g_autofree char *text = g_strdup_printf("[storage]\ngraphroot = \"%s/store\"\nrunroot = \"%s/run\"\n", work,
                                                work);

        write_file("storage.conf", text);
        setenv("CONTAINERS_STORAGE_CONF", path, 1);
}

START_TEST(test_none) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = print_dense(command_images, all, NULL, 0);

        ck_assert_str_eq(json, "[]");
}
END_TEST

#define ROW(image, store, problem)                                                                          \
        "[{\"image\":\"" image "\",\"unit\":\"u.service\",\"id\":null,\"store\":" store ",\"layers\":null," \
        "\"created\":null,\"problem\":" problem "}]"

static const struct {
        const char *words, *refused; /* NULL: it is not; else its source */
        int status;
        const char *json;
} images[] = {
        { "--rootfs|/", NULL, 0, ROW("/", "null", "null") },
        { "--rootfs|/:O", NULL, 0, ROW("/:O", "null", "null") },
        { "--rootfs|/proc:idmap", NULL, 0, ROW("/proc:idmap", "null", "null") },
        { "--rootfs|/nowhere\n\"\\:O", NULL, 1, ROW("/nowhere\\n\\\"\\\\:O", "null", "\"thereisnosuchdirectory\"") },
        { "--rootfs|/proc/self/exe", NULL, 1, ROW("/proc/self/exe", "null", "\"thereisnosuchdirectory\"") },
        { "--store|user|--owner|alice|localhost/i", NULL, 0, ROW("localhost/i", "\"ofalice\"", "null") },
        { "--name|a|i", "/a", 1, ROW("i", "null", "\"itsfilewasrefused:systemctlcatu.service\"") },
        { "--name|a|i", "", 1, ROW("i", "null", "\"itsfilewasdeleted:systemctlcatu.service\"") },
};

START_TEST(test_image) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = NULL;
        ContainerUnit *container = add_container(all, "u.service", images[_i].words);

        container->is_refused = images[_i].refused;
        g_free(container->source);
        container->source = g_strdup(images[_i].refused ?: "/a");
        json = print_dense(command_images, all, NULL, images[_i].status);
        ck_assert_str_eq(json, images[_i].json);
}
END_TEST

/* One that is missing is enough, and the others are shown. */
START_TEST(test_missing) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = NULL;

        make_store();
        add_container(all, "a.service", "localhost/gone");
        add_container(all, "b.service", "localhost/NO");
        add_container(all, "c.service", "--rootfs|/");
        json = print_dense(command_images, all, NULL, 1);
        ck_assert_ptr_nonnull(strstr(json, "{\"image\":\"localhost/gone\",\"unit\":\"a.service\",\"id\":null,"));
        ck_assert_ptr_nonnull(strstr(json, "\"problem\":\"Image'localhost/gone'"));
        ck_assert_ptr_nonnull(strstr(json, "{\"image\":\"localhost/NO\",\"unit\":\"b.service\",\"id\":null,"));
        ck_assert_ptr_nonnull(strstr(json, "\"unit\":\"c.service\",\"id\":null,\"store\":null,\"layers\":null,"
                                           "\"created\":null,\"problem\":null}"));
}
END_TEST

TEST_MAIN("ctl/images", {
        tcase_add_checked_fixture(tcase, make_work, remove_work);
        tcase_add_test(tcase, test_none);
        tcase_add_loop_test(tcase, test_image, 0, G_N_ELEMENTS(images));
        tcase_add_test(tcase, test_missing);
})
