/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "libstart/oci/selinux-label.h"
#include "tests/unit/base/expect-error.h"

/* As Fedora's package has it, and a few lines that nobody has. */
#define CONTEXTS                                                       \
        "process = \"system_u:system_r:container_t:s0\"\n"             \
        "  # file = \"a:b:c:s0\"\n"                                    \
        "; file = \"a:b:c:s0\"\n"                                      \
        "no assignment\n"                                              \
        "\n"                                                           \
        "file=system_u:object_r:container_file_t:s0  \n"               \
        "\tinit_process\t=\t\"first\"\n"                               \
        "init_process = \"system_u:system_r:container_init_t:s0\"\r\n" \
        "half = \"\n"                                                  \
        "empty ="

static const struct {
        const char *key, *value;
} contexts[] = {
        { "process", "system_u:system_r:container_t:s0" },
        { "file", "system_u:object_r:container_file_t:s0" },
        { "init_process", "system_u:system_r:container_init_t:s0" },
        { "half", "\"" },
        { "empty", "" },
        { "ro_file", NULL },
        { "proc", NULL },
        { "no assignment", NULL },
};

START_TEST(test_contexts) {
        g_autofree char *value = selinux_contexts_find(CONTEXTS, contexts[_i].key);

        ck_assert_pstr_eq(value, contexts[_i].value);
}
END_TEST

/* Two different categories of 1024, the smaller one first, as the kernel prints them. */
START_TEST(test_levels) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (int i = 0; i < 1000; i++) {
                g_autofree char *name = g_strdup_printf("systemd-camera%d", i);
                char *level = selinux_level_choose(name, 0);
                g_autofree char *again = selinux_level_choose(name, 0), *next = selinux_level_choose(name, 1);
                unsigned first, second;
                int end = 0;

                ck_assert_int_eq(sscanf(level, "s0:c%u,c%u%n", &first, &second, &end), 2);
                ck_assert_int_eq(level[end], '\0');
                ck_assert(first < second && second < 1024);
                ck_assert_str_ne(level, SELINUX_LEVEL_DISABLED);
                ck_assert_str_eq(level, again);
                ck_assert_str_ne(level, next);
                g_hash_table_add(seen, level);
        }
        /* Of 1000 in 523776 one is expected to meet another. */
        ck_assert_uint_ge(g_hash_table_size(seen), 995);
}
END_TEST

/* What a level is must not change from one keyturn to the next: files have it. */
START_TEST(test_level_stays) {
        g_autofree char *level = selinux_level_choose("systemd-camera", 0);

        ck_assert_str_eq(level, "s0:c61,c751");
}
END_TEST

#define PROCESS "system_u:system_r:container_t:s0"
#define FILE "system_u:object_r:container_file_t:s0"

static const struct {
        const char *options; /* with blanks between */
        const char *process, *file;
} labels[] = {
        { "", "system_u:system_r:container_t:s0:c1,c2", "system_u:object_r:container_file_t:s0:c1,c2" },
        { "type:qm_t filetype:qm_file_t level:s0", "system_u:system_r:qm_t:s0", "system_u:object_r:qm_file_t:s0" },
        { "level:s0:c5", "system_u:system_r:container_t:s0:c5", "system_u:object_r:container_file_t:s0:c5" },
        { "user:u role:r", "u:r:container_t:s0:c1,c2", "u:object_r:container_file_t:s0:c1,c2" },
        { "nested", "system_u:system_r:container_t:s0:c1,c2", "system_u:object_r:container_file_t:s0:c1,c2" },
        { "disable", NULL, "system_u:object_r:container_file_t:s0:c1022,c1023" },
        { "type:a disable level:s0", NULL, "system_u:object_r:container_file_t:s0:c1022,c1023" },
};

START_TEST(test_labels) {
        g_auto(GStrv) options = g_strsplit(labels[_i].options, " ", -1);
        g_auto(SelinuxLabels) made = { 0 };
        LabelRequest request = { 0 };

        for (char **option = options; *option; option++)
                ck_assert(label_option_parse(*option, &request, NULL));
        ck_assert(selinux_labels_make(&request, PROCESS, FILE, "s0:c1,c2", &made, NULL));
        ck_assert_pstr_eq(made.process, labels[_i].process);
        ck_assert_str_eq(made.file, labels[_i].file);
        label_request_clear(&request);
}
END_TEST

START_TEST(test_no_labels) {
        static const char *const bad[] = { "", "a:b:c", "container_t", "a:b:c:s0\",x=\"y" };
        const LabelRequest request = { 0 };

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_auto(SelinuxLabels) made = { 0 };
                g_autoptr(GError) error = NULL, other = NULL;

                ck_assert(!selinux_labels_make(&request, bad[i], FILE, "s0", &made, &error));
                expect_error(error, KT_ERROR_FAILED, "is not USER:ROLE:TYPE:LEVEL");
                ck_assert(!selinux_labels_make(&request, PROCESS, bad[i], "s0", &made, &other));
                expect_error(other, KT_ERROR_FAILED, "is not USER:ROLE:TYPE:LEVEL");
        }
}
END_TEST

START_TEST(test_share) {
        g_autofree char *shared = selinux_label_share("u:r:t:s0:c1,c2"),
                        *ranged = selinux_label_share("u:r:t:s0-s0:c1");

        ck_assert_str_eq(shared, "u:r:t:s0");
        ck_assert_str_eq(ranged, "u:r:t:s0");
}
END_TEST

START_TEST(test_level_of) {
        g_autofree char *level = selinux_label_level("u:r:t:s0:c1,c2"), *none = selinux_label_level("u:r:t");

        ck_assert_str_eq(level, "s0:c1,c2");
        ck_assert_ptr_null(none);
}
END_TEST

START_TEST(test_systems_paths) {
        static const char *const systems[] = { "/",     "/etc",  "/usr",     "/usr/lib",
                                               "/home", "/root", "/var/lib", "/var/log" };
        static const char *const free_ones[] = {
                "/srv/data", "/etc/app", "/home/me", "/var/lib/app", "/usrs", "/data"
        };

        for (size_t i = 0; i < G_N_ELEMENTS(systems); i++)
                ck_assert_msg(selinux_path_is_systems(systems[i]), "%s", systems[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(free_ones); i++)
                ck_assert_msg(!selinux_path_is_systems(free_ones[i]), "%s", free_ones[i]);
}
END_TEST

TEST_MAIN("selinux-label", {
        tcase_add_loop_test(tcase, test_contexts, 0, G_N_ELEMENTS(contexts));
        tcase_add_test(tcase, test_levels);
        tcase_add_test(tcase, test_level_stays);
        tcase_add_loop_test(tcase, test_labels, 0, G_N_ELEMENTS(labels));
        tcase_add_test(tcase, test_no_labels);
        tcase_add_test(tcase, test_share);
        tcase_add_test(tcase, test_level_of);
        tcase_add_test(tcase, test_systems_paths);
})
