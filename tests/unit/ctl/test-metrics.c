/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/ctl/commands.h"
#include "tests/unit/ctl/print-command.h"

/* What the text format of Prometheus demands: https://prometheus.io/docs/instrumenting/exposition_formats/ */

static char *print(const GPtrArray *all) {
        return print_command(command_metrics, all, &plain, NULL, 0);
}

START_TEST(test_none) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = print(all);

        ck_assert_str_eq(text, "");
}
END_TEST

#define FAMILY(name, type, help, labels, value)                                                    \
        "# HELP keyturn_container_" name " " help "\n# TYPE keyturn_container_" name " " type "\n" \
        "keyturn_container_" name "{container=\"web\",unit=\"w.service\"" labels "} " value "\n"
#define WEB "{container=\"web\",unit=\"w.service\"} "

/* A family without samples has no lines at all. */
START_TEST(test_stopped) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = NULL,
                        *expected = g_strconcat(
                                FAMILY("info", "gauge", "A container, its image, and the image that runs.",
                                       ",image=\"localhost/i\",image_id=\"\"", "1"),
                                FAMILY("active", "gauge", "Whether its service is active.", "", "0"),
                                FAMILY("refused", "gauge",
                                       "Whether its file is refused, so that it cannot be started again.", "", "0"),
                                FAMILY("restarts_total", "counter", "How often Restart= has started it again.", "",
                                       "0"),
                                NULL);

        add_container(all, "w.service", "--name=web|localhost/i");
        text = print(all);
        ck_assert_str_eq(text, expected);
}
END_TEST

static const struct {
        const char *name, *label;
} labels[] = {
        { "", "" },         { "a\\b", "a\\\\b" },        { "\"", "\\\"" },           { "a\nb", "a\\nb" },
        { "\\n", "\\\\n" }, { "\\\"\n", "\\\\\\\"\\n" }, { "{}=,#\t'", "{}=,#\t'" }, { "\xc3\xa4", "\xc3\xa4" },
};

START_TEST(test_label) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *words = g_strdup_printf("--name=%s|i", labels[_i].name), *text = NULL;
        g_autofree char *sample = g_strdup_printf(
                "\nkeyturn_container_active{container=\"%s\",unit=\"u.service\"} 0\n", labels[_i].label);

        add_container(all, "u.service", words);
        text = print(all);
        ck_assert_ptr_nonnull(strstr(text, sample));
}
END_TEST

static const struct {
        guint64 since, start;
        guint32 restarts;
        const char *samples[3];
} numbers[] = {
        { 1,
          1,
          1,
          { "state_change_timestamp_seconds" WEB "0.000", "start_seconds" WEB "0.000001",
            "restarts_total" WEB "1" } },
        { 1790000000123456,
          1500000,
          G_MAXUINT32,
          { "state_change_timestamp_seconds" WEB "1790000000.123", "start_seconds" WEB "1.500000",
            "restarts_total" WEB "4294967295" } },
        { G_MAXUINT64,
          G_MAXUINT64,
          0,
          { "state_change_timestamp_seconds" WEB "18446744073709.551",
            "start_seconds" WEB "18446744073709.550781" } },
};

START_TEST(test_numbers) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = NULL;
        ContainerUnit *container = add_container(all, "w.service", "--name=web|i");

        container->since = numbers[_i].since;
        container->start = numbers[_i].start;
        container->restarts = numbers[_i].restarts;
        text = print(all);
        for (size_t i = 0; i < G_N_ELEMENTS(numbers->samples) && numbers[_i].samples[i]; i++) {
                g_autofree char *line = g_strdup_printf("\nkeyturn_container_%s\n", numbers[_i].samples[i]);

                ck_assert_msg(strstr(text, line), "%s is not in:\n%s", line, text);
        }
}
END_TEST

static const struct {
        const char *record;
        const char *value; /* NULL: none */
} healths[] = {
        { NULL, NULL },
        { "{\"Status\":\"healthy\",\"FailingStreak\":0,\"Log\":[]}", "1" },
        { "{\"Status\":\"unhealthy\",\"FailingStreak\":3,\"Log\":[]}", "0" },
        { "{\"Status\":\"starting\",\"FailingStreak\":0,\"Log\":[]}", "0" },
        { "{\"Status\":", NULL },
};

START_TEST(test_health) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *words = g_strdup_printf("--name=web|--state-dir=%s|i", work), *text = NULL;
        g_autofree char *sample = g_strdup_printf("\nkeyturn_container_healthy" WEB "%s\n", healths[_i].value ?: "");

        add_container(all, "w.service", words);
        if (healths[_i].record)
                write_file(".health.json", healths[_i].record);
        text = print(all);
        ck_assert_int_eq(strstr(text, "keyturn_container_healthy") != NULL, healths[_i].value != NULL);
        if (healths[_i].value)
                ck_assert_ptr_nonnull(strstr(text, sample));
}
END_TEST

START_TEST(test_running) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = NULL;

        add_running(all, "w.service", "web",
                    "{\"ociVersion\":\"1\",\"annotations\":{\"keyturn.image.id\":\"0123\"}}");
        text = print(all);
        ck_assert_ptr_nonnull(strstr(text, ",image=\"localhost/i\",image_id=\"0123\"} 1\n"));
        ck_assert_ptr_nonnull(strstr(text, "\nkeyturn_container_active" WEB "1\n"));
}
END_TEST

static guint count(const char *text, const char *part) {
        g_auto(GStrv) parts = g_strsplit(text, part, -1);

        return g_strv_length(parts) - 1;
}

/* The samples of a family are together, behind its two lines, however many containers there are. */
START_TEST(test_families) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *text = NULL;
        const char *type;

        add_container(all, "a.service", "--name=a|i")->is_refused = true;
        add_container(all, "b.service", "--name=b|i")->since = 1;
        text = print(all);
        ck_assert_uint_eq(count(text, "# HELP "), 5);
        ck_assert_uint_eq(count(text, "# TYPE "), 5);
        type = strstr(text, "# TYPE keyturn_container_refused gauge\n");
        ck_assert_ptr_nonnull(type);
        ck_assert(g_str_has_prefix(strchr(type, '\n'),
                                   "\nkeyturn_container_refused{container=\"a\",unit=\"a.service\"} 1\n"
                                   "keyturn_container_refused{container=\"b\",unit=\"b.service\"} 0\n# HELP "));
}
END_TEST

START_TEST(test_output) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *path = g_build_filename(work, "k.prom", NULL), *text = NULL, *written = NULL,
                        *printed = NULL;
        const Options options = { .output = path };

        add_container(all, "w.service", "--name=web|i");
        write_file("k.prom", "old");
        printed = print_command(command_metrics, all, &options, NULL, 0);
        ck_assert_str_eq(printed, "");
        ck_assert(g_file_get_contents(path, &written, NULL, NULL));
        text = print(all);
        ck_assert_str_eq(written, text);
}
END_TEST

START_TEST(test_no_output) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autoptr(GError) error = NULL;
        const Options options = { .output = (char *) "/nowhere/k.prom" };

        ck_assert_int_eq(command_metrics(all, &options, NULL, &error), -1);
        expect_error(error, KT_ERROR_NOT_FOUND, options.output);
}
END_TEST

TEST_MAIN("ctl/metrics", {
        tcase_add_checked_fixture(tcase, make_work, remove_work);
        tcase_add_test(tcase, test_none);
        tcase_add_test(tcase, test_stopped);
        tcase_add_loop_test(tcase, test_label, 0, G_N_ELEMENTS(labels));
        tcase_add_loop_test(tcase, test_numbers, 0, G_N_ELEMENTS(numbers));
        tcase_add_loop_test(tcase, test_health, 0, G_N_ELEMENTS(healths));
        tcase_add_test(tcase, test_running);
        tcase_add_test(tcase, test_families);
        tcase_add_test(tcase, test_output);
        tcase_add_test(tcase, test_no_output);
})
