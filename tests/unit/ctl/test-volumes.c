/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/commands.h"
#include "tests/unit/ctl/print-command.h"

static void setup(void) {
        make_work();
        set_conf("engine", "volume_path", "volumes");
}

START_TEST(test_none) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = print_dense(command_volumes, all, NULL, 0),
                        *text = print_command(command_volumes, all, &plain, NULL, 0);

        ck_assert_str_eq(json, "[]");
        ck_assert_str_eq(text, "VOLUME  TYPE  CONTAINERS  MOUNTPOINT\n");
}
END_TEST

static const struct {
        const char *words;
        const char *volume; /* that it uses; NULL: none */
} uses[] = {
        { "--volume|data:/data", "data" },
        { "--volume|data:/data:ro,Z|--volume|data:/again", "data" },
        { "--mount|type=volume,source=data,destination=/data", "data" },
        { "--volume|/srv:/data", NULL },
        { "--volume|/data", NULL },
        { "--mount|type=volume,destination=/data", NULL },
        { "--mount|type=tmpfs,destination=/data", NULL },
        { "--mount|type=bind,source=/srv,destination=/data", NULL },
        { "--volume|:", NULL },
        { "--mount|nonsense", NULL },
};

/* Those that have not been made yet, too. */
START_TEST(test_use) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *words = g_strdup_printf("--name=web|%s|i", uses[_i].words), *json = NULL;
        g_autofree char *expected = g_strdup_printf("[{\"volume\":\"%s\",\"type\":null,\"containers\":[\"web\"],"
                                                    "\"mountpoint\":null,\"size\":null}]",
                                                    uses[_i].volume);

        add_container(all, "u.service", words);
        json = print_dense(command_volumes, all, NULL, 0);
        ck_assert_str_eq(json, uses[_i].volume ? expected : "[]");
}
END_TEST

/* What is in the directory and no volume's is not shown; of strange names no line is more than one. */
START_TEST(test_made) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = NULL, *text = NULL, *expected = NULL;

        write_file("volumes/data/_data/file", "");
        write_file("volumes/a\nb\xff/_data/file", "");
        write_file("volumes/file", "");
        write_file("volumes/empty/_data", "");
        add_container(all, "a.service", "--name=a|--volume|data:/data|i");
        add_container(all, "b.service", "--name=b\"|--volume|data:/data|i");
        json = print_dense(command_volumes, all, NULL, 0);
        expected = g_strdup_printf("[{\"volume\":\"a\\nb\xef\xbf\xbd\",\"type\":\"directory\",\"containers\":null,"
                                   "\"mountpoint\":\"%s/volumes/a\\nb\xef\xbf\xbd/_data\",\"size\":null},"
                                   "{\"volume\":\"data\",\"type\":\"directory\",\"containers\":[\"a\",\"b\\\"\"],"
                                   "\"mountpoint\":\"%s/volumes/data/_data\",\"size\":null}]",
                                   work, work);
        ck_assert_str_eq(json, expected);
        text = print_command(command_volumes, all, &plain, NULL, 0);
        ck_assert_ptr_nonnull(strstr(text, "\na\\nb\\xff  directory  -           /"));
        ck_assert_ptr_nonnull(strstr(text, "\ndata      directory  a b\"        /"));
}
END_TEST

START_TEST(test_unreadable) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autoptr(GError) error = NULL;

        write_file("volumes", "");
        ck_assert_int_eq(command_volumes(all, &plain, NULL, &error), -1);
        expect_error(error, KT_ERROR_FAILED, "Not a directory");
}
END_TEST

TEST_MAIN("ctl/volumes", {
        tcase_add_checked_fixture(tcase, setup, remove_work);
        tcase_add_test(tcase, test_none);
        tcase_add_loop_test(tcase, test_use, 0, G_N_ELEMENTS(uses));
        tcase_add_test(tcase, test_made);
        tcase_add_test(tcase, test_unreadable);
})
