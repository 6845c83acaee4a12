/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/root/image-message.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/test-main.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void expect_list(char *const *list, const char *joined) {
        g_autofree char *text = list ? g_strjoinv("|", (char **) list) : NULL;

        ck_assert_pstr_eq(text, joined);
}

START_TEST(test_all) {
        g_autoptr(ImageConfig) config = image_config_parse(
                "{\"config\":{\"User\":\"1:2\",\"WorkingDir\":\"/srv\",\"StopSignal\":\"SIGINT\","
                "\"Entrypoint\":[\"a\",\"\"],\"Cmd\":[\"c\"],\"Env\":[\"A=1\",\"B=\\n-+\"],\"Volumes\":{\"/v\":{},"
                "\"/u/w\":{}},\"Labels\":{\"k\":\"v\"}},\"architecture\":\"amd64\",\"os\":\"linux\","
                "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[]}}",
                NULL);
        g_autoptr(ImageHealth) health = image_health_parse(
                "{\"config\":{\"Healthcheck\":{\"Test\":[\"CMD\",\"x\"],\"Interval\":5000000000,\"Retries\":4}}}",
                NULL);
        g_autoptr(GString) text = image_message_write(ID, config, health);
        g_auto(ImageMessage) read = { 0 };

        ck_assert(image_message_read(text->str, text->len, &read, NULL));
        ck_assert_str_eq(read.id, ID);
        ck_assert_str_eq(read.config->user, "1:2");
        ck_assert_str_eq(read.config->working_dir, "/srv");
        ck_assert_str_eq(read.config->stop_signal, "SIGINT");
        expect_list(read.config->entrypoint, "a|");
        expect_list(read.config->cmd, "c");
        expect_list(read.config->env, "A=1|B=\n-+");
        expect_list(read.config->volumes, "/u/w|/v");
        expect_list(read.config->labels, "k=v");
        expect_list(read.health->test, "CMD|x");
        ck_assert_uint_eq(read.health->interval, 5000000);
        ck_assert_uint_eq(read.health->timeout, 0);
        ck_assert_uint_eq(read.health->retries, 4);
}
END_TEST

/* Nor is any beginning of it. */
START_TEST(test_least) {
        g_autoptr(ImageConfig) config = g_new0(ImageConfig, 1);
        g_autoptr(GString) text = image_message_write(ID, config, NULL);

        for (gsize length = 0; length < text->len; length++) {
                g_auto(ImageMessage) read = { 0 };

                ck_assert(!image_message_read(text->str, length, &read, NULL));
        }
        g_auto(ImageMessage) read = { 0 };
        ck_assert(image_message_read(text->str, text->len, &read, NULL));
        ck_assert_ptr_null(read.config->user);
        ck_assert_ptr_null(read.config->env);
        ck_assert_ptr_null(read.health);
}
END_TEST

static const struct {
        const char *id, *working_dir, *first, *second;
} bad[] = {
        { "../../etc", NULL, NULL, NULL }, { "", NULL, NULL, NULL },     { ID, "srv", NULL, NULL },
        { ID, "/a\nb", NULL, NULL },       { ID, NULL, "a", NULL },      { ID, NULL, "/a/../b", NULL },
        { ID, NULL, "/a/", NULL },         { ID, NULL, "/a\033", NULL }, { ID, NULL, "/a", "/a" },
        { ID, NULL, "/b", "/a" },
};

START_TEST(test_bad) {
        const char *volumes[] = { bad[_i].first, bad[_i].second, NULL };
        g_autoptr(ImageConfig) config = g_new0(ImageConfig, 1);
        g_auto(ImageMessage) read = { 0 };
        g_autoptr(GError) error = NULL;

        config->working_dir = g_strdup(bad[_i].working_dir);
        config->volumes = g_strdupv((char **) volumes);
        g_autoptr(GString) text = image_message_write(bad[_i].id, config, NULL);
        ck_assert(!image_message_read(text->str, text->len, &read, &error));
        expect_error(error, KT_ERROR_FAILED, "not understood");
        ck_assert_ptr_null(read.id);
}
END_TEST

/* What no parser leaves: each stands where it would be the only one. */
static const char *const users[] = { "", "\xff", "a\xc3" };

START_TEST(test_bad_text) {
        g_autoptr(ImageConfig) config = g_new0(ImageConfig, 1);
        g_auto(ImageMessage) read = { 0 };

        config->user = g_strdup(users[_i]);
        g_autoptr(GString) text = image_message_write(ID, config, NULL);
        ck_assert(!image_message_read(text->str, text->len, &read, NULL));
}
END_TEST

START_TEST(test_bad_label) {
        const char *labels[] = { "a=b", "none", NULL };
        g_autoptr(ImageConfig) config = g_new0(ImageConfig, 1);
        g_auto(ImageMessage) read = { 0 }, good = { 0 };

        config->labels = g_strdupv((char **) labels);
        g_autoptr(GString) text = image_message_write(ID, config, NULL);
        ck_assert(!image_message_read(text->str, text->len, &read, NULL));
        g_free(config->labels[1]);
        config->labels[1] = g_strdup("none=");
        g_autoptr(GString) other = image_message_write(ID, config, NULL);
        ck_assert(image_message_read(other->str, other->len, &good, NULL));
}
END_TEST

START_TEST(test_bad_span) {
        static char *test[] = { NULL };
        ImageHealth health = { .test = test, .interval = G_MAXINT64 / 1000 + 1 };
        g_autoptr(ImageConfig) config = g_new0(ImageConfig, 1);
        g_auto(ImageMessage) read = { 0 }, good = { 0 };

        g_autoptr(GString) text = image_message_write(ID, config, &health);
        ck_assert(image_message_read(text->str, text->len, &good, NULL));
        health.interval++;
        g_autoptr(GString) other = image_message_write(ID, config, &health);
        ck_assert(!image_message_read(other->str, other->len, &read, NULL));
}
END_TEST

START_TEST(test_too_many) {
        g_autoptr(ImageConfig) config = g_new0(ImageConfig, 1);
        g_auto(ImageMessage) read = { 0 }, good = { 0 };

        config->cmd = g_new0(char *, 70001);
        for (int i = 0; i < 60000; i++)
                config->cmd[i] = g_strdup("a");
        g_autoptr(GString) text = image_message_write(ID, config, NULL);
        ck_assert(image_message_read(text->str, text->len, &good, NULL));
        for (int i = 60000; i < 70000; i++)
                config->cmd[i] = g_strdup("a");
        g_autoptr(GString) other = image_message_write(ID, config, NULL);
        ck_assert(!image_message_read(other->str, other->len, &read, NULL));
}
END_TEST

TEST_MAIN("image-message", {
        tcase_add_test(tcase, test_all);
        tcase_add_test(tcase, test_least);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_bad_text, 0, G_N_ELEMENTS(users));
        tcase_add_test(tcase, test_bad_label);
        tcase_add_test(tcase, test_bad_span);
        tcase_add_test(tcase, test_too_many);
})
