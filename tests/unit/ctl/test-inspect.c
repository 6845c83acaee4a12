/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/commands.h"
#include "tests/unit/ctl/print-command.h"

static const char config[] =
        "{\"ociVersion\":\"1.0.0\",\"hostname\":\"h\\u001b\","
        "\"annotations\":{\"keyturn.image.id\":\"0123456789abcdef\"},"
        "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\"},"
        "{\"destination\":\"/a\\nb\",\"source\":\"/srv/\\\\134\",\"type\":\"bind\"},{\"destination\":\"/x\"}],"
        "\"process\":{\"cwd\":\"/\",\"user\":{\"uid\":4294967295,\"gid\":0},"
        "\"args\":[\"sh\",\"-c\",\"echo a\\n\\techo b\\\\n\",\"\"]}}";

/* What a word is in the payload's command it is in the JSON, whatever is in it. */
START_TEST(test_running) {
        char *words[] = { (char *) "web", NULL };
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char
                *json = NULL,
                *expected = g_strdup_printf(
                        "[{\"container\":\"web\",\"unit\":\"u.service\","
                        "\"source\":\"/etc/containers/systemd/a.container\","
                        "\"state\":\"inactive(dead)\",\"pid\":2147483647,\"image\":\"localhost/i\","
                        "\"image_id\":\"0123456789abcdef\",\"created\":null,\"store\":null,\"layers\":null,"
                        "\"command\":[\"sh\",\"-c\",\"echoa\\n\\techob\\\\n\",\"\"],\"user\":\"4294967295:0\","
                        "\"workdir\":\"/\","
                        "\"hostname\":\"h\\u001B\",\"address\":null,\"ports\":null,"
                        "\"mounts\":[\"proc:/proc\",\"/srv/\\\\134:/a\\nb\",\":/x\"],\"cgroup\":null,\"memory\":null,"
                        "\"cpu_ms\":null,\"restarts\":0,\"config\":\"%s/web/config.json\"}]",
                        work);

        add_running(all, "u.service", "web", config);
        json = print_dense(command_inspect, all, words, 0);
        ck_assert_str_eq(json, expected);
}
END_TEST

START_TEST(test_text) {
        char *words[] = { (char *) "u", NULL };
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = NULL;

        add_running(all, "u.service", "web", config);
        text = print_command(command_inspect, all, &plain, words, 0);
        ck_assert_ptr_nonnull(strstr(text, "\n  COMMAND: sh -c echo a\\n\\techo b\\n \n"));
        ck_assert_ptr_nonnull(strstr(text, "\n   MOUNTS: proc:/proc /srv/\\134:/a\\nb :/x\n"));
        ck_assert_ptr_nonnull(strstr(text, "\n HOSTNAME: h\\x1b\n"));
}
END_TEST

START_TEST(test_stopped) {
        char *words[] = { (char *) "web", NULL };
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = NULL;

        add_container(all, "u.service", "--name=web|i");
        json = print_dense(command_inspect, all, words, 0);
        ck_assert_ptr_nonnull(strstr(json, "\"pid\":null,\"image\":\"i\",\"image_id\":null,"));
        ck_assert_ptr_nonnull(strstr(json, "\"command\":null,\"user\":null,"));
        ck_assert_ptr_nonnull(strstr(json, "\"mounts\":null,"));
        ck_assert_ptr_nonnull(strstr(json, "\"config\":null}"));
}
END_TEST

/* A configuration that cannot be read is like none. */
START_TEST(test_broken) {
        char *words[] = { (char *) "web", NULL };
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *json = NULL;

        add_running(all, "u.service", "web", "{\"process\":");
        json = print_dense(command_inspect, all, words, 0);
        ck_assert_ptr_nonnull(strstr(json, "\"command\":null,"));
}
END_TEST

START_TEST(test_usage) {
        char *words[] = { NULL };
        g_autoptr(GPtrArray) all = new_containers();
        g_autoptr(GError) error = NULL;

        add_container(all, "u.service", "--name=web|i");
        ck_assert_int_eq(command_inspect(all, &plain, words, &error), -1);
        expect_error(error, KT_ERROR_USAGE, "'inspect' takes one container");
}
END_TEST

TEST_MAIN("ctl/inspect", {
        tcase_add_checked_fixture(tcase, make_work, remove_work);
        tcase_add_test(tcase, test_running);
        tcase_add_test(tcase, test_text);
        tcase_add_test(tcase, test_stopped);
        tcase_add_test(tcase, test_broken);
        tcase_add_test(tcase, test_usage);
})
