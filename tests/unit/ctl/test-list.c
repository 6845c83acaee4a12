/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <time.h>

#include "libstart/ctl/commands.h"
#include "tests/unit/ctl/print-command.h"

#define HEADINGS                                                                                                    \
        "CONTAINER  UNIT  STATE  HEALTH  IMAGE  IMAGE-ID  CREATED  ADDRESS  PORTS  MEMORY  CPU-MS  RESTARTS  SINCE" \
        "  START-MS\n"

static const Options quiet = { .quiet = TRUE };

START_TEST(test_none) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = print_command(command_list, all, &plain, NULL, 0),
                        *names = print_command(command_list, all, &quiet, NULL, 0),
                        *array = print_dense(command_list, all, NULL, 0);

        ck_assert_str_eq(text, HEADINGS);
        ck_assert_str_eq(names, "");
        ck_assert_str_eq(array, "[]");
}
END_TEST

#define NEVER                                                                                                 \
        "\"health\":null,\"image\":\"i\",\"image_id\":null,\"created\":null,\"address\":null,\"ports\":null," \
        "\"memory\":null,\"cpu_ms\":null,"

static const struct {
        const char *name;
        guint32 restarts;
        guint64 since, start;
        const char *json;
} containers[] = {
        { "web", 0, 0, 0,
          "{\"container\":\"web\",\"unit\":\"u.service\",\"state\":\"inactive(dead)\"," NEVER
          "\"restarts\":0,\"since\":null,\"start_ms\":null}" },
        { "a\"\\/\t\x1b\xff\xe2\x80\xae", G_MAXUINT32, 1, 1,
          "{\"container\":\"a\\\"\\\\/\\t\\u001B\xef\xbf\xbd\\u202e\",\"unit\":\"u.service\","
          "\"state\":\"inactive(dead)\"," NEVER
          "\"restarts\":4294967295,\"since\":\"1970-01-0100:00:00\",\"start_ms\":0.0}" },
        { "a", 1, G_MAXUINT64, G_MAXUINT64,
          "{\"container\":\"a\",\"unit\":\"u.service\",\"state\":\"inactive(dead)\"," NEVER
          "\"restarts\":1,\"since\":null,\"start_ms\":18446744073709552.0}" },
};

START_TEST(test_json) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *words = g_strdup_printf("--name=%s|i", containers[_i].name),
                        *expected = g_strdup_printf("[%s]", containers[_i].json), *text = NULL;
        ContainerUnit *container = add_container(all, "u.service", words);

        setenv("TZ", "UTC", 1);
        container->restarts = containers[_i].restarts;
        container->since = containers[_i].since;
        container->start = containers[_i].start;
        text = print_dense(command_list, all, NULL, 0);
        ck_assert_str_eq(text, expected);
}
END_TEST

/* Neither a name nor a state can break out of its line. */
START_TEST(test_text) {
        g_autoptr(GPtrArray) all = new_containers();
        ContainerUnit *container = add_container(all, "u.service", "--name=a\033[2J\nb|i");
        g_autofree char *text = NULL, *names = NULL;

        g_free(container->state);
        container->state = g_strdup("failed (x): \xc2\x9b\r\n<0>forged");
        text = print_command(command_list, all, &plain, NULL, 0);
        ck_assert_ptr_nonnull(strstr(
                text,
                "\na\\x1b[2J\\nb  u.service  failed (x): \\u009b\\x0d\\n<0>forged  -       i      -         -   "));
        ck_assert_ptr_eq(strrchr(text, '\n'), text + strlen(text) - 1);
        names = print_command(command_list, all, &quiet, NULL, 0);
        ck_assert_str_eq(names, "a\\x1b[2J\nb\n");
}
END_TEST

START_TEST(test_long_name) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *name = g_strnfill(100000, 'x'), *words = g_strdup_printf("--name|%s|i", name);
        g_autofree char *text = NULL, *row = g_strdup_printf("\n%s  u.service  inactive (dead)  -  ", name);

        add_container(all, "u.service", words);
        text = print_command(command_list, all, &plain, NULL, 0);
        ck_assert_ptr_nonnull(strstr(text, row));
}
END_TEST

static const struct {
        const char *words[3];
        const char *printed, *error;
} choices[] = {
        { { NULL }, "web\ndb\ntwin\ntwin\n", NULL },
        { { "db", "web" }, "db\nweb\n", NULL },
        { { "web.service" }, "web\n", NULL },
        { { "web.container" }, "web\n", NULL },
        { { "/a/web.container" }, "web\n", NULL },
        { { "b@2" }, "twin\n", NULL },
        { { "twin" }, NULL, "Two containers are called 'twin': say b@1.service or b@2.service" },
        { { "web", "gone" }, NULL, "There is no container 'gone'; see keyturnctl list" },
        { { "web.serv" }, NULL, "There is no container 'web.serv'" },
        { { "" }, NULL, "There is no container ''" },
        { { "shop-pod" }, NULL, "of pods, see keyturnctl pods" },
        { { "data.volume" }, NULL, "of volumes, see keyturnctl volumes" },
        { { "lan-network.service" }, NULL, "of networks, see keyturnctl networks" },
        { { "app-build.service" }, NULL, "of images, see keyturnctl images" },
};

START_TEST(test_choice) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autoptr(GError) error = NULL;
        char **words = (char **) choices[_i].words;
        ContainerUnit *web = add_container(all, "web.service", "--name=web|i");

        g_free(web->source);
        web->source = g_strdup("/a/web.container");
        add_container(all, "db.service", "--name=db|i");
        add_container(all, "b@1.service", "--name=twin|i");
        add_container(all, "b@2.service", "--name=twin|i");
        if (choices[_i].error) {
                ck_assert_int_eq(command_list(all, &quiet, words, &error), -1);
                ck_assert_ptr_nonnull(strstr(error->message, choices[_i].error));
        } else {
                g_autofree char *text = print_command(command_list, all, &quiet, words, 0);

                ck_assert_str_eq(text, choices[_i].printed);
        }
}
END_TEST

TEST_MAIN("ctl/list", {
        tcase_add_test(tcase, test_none);
        tcase_add_loop_test(tcase, test_json, 0, G_N_ELEMENTS(containers));
        tcase_add_test(tcase, test_text);
        tcase_add_test(tcase, test_long_name);
        tcase_add_loop_test(tcase, test_choice, 0, G_N_ELEMENTS(choices));
})
