/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/network/network-files.h"
#include "tests/unit/base/expect-error.h"

static NetworkConf conf;
static char *path;

static void setup(void) {
        conf = (NetworkConf) {
                .config_dir = g_dir_make_tmp("keyturn-network-files-XXXXXX", NULL),
                .default_network = g_strdup("podman"),
                .default_subnet = g_strdup(DEFAULT_NETWORK_SUBNET),
        };
        path = g_build_filename(conf.config_dir, "podman.json", NULL);
}

static void teardown(void) {
        (void) g_remove(path);
        ck_assert_int_eq(rmdir(conf.config_dir), 0);
        network_conf_clear(&conf);
        g_free(path);
}

START_TEST(test_there_and_gone) {
        g_autoptr(NetworkDefinition) built_in = network_files_find(&conf, "podman", NULL), written = NULL;
        g_autoptr(GPtrArray) all = NULL;
        bool is_there = true;

        ck_assert(network_files_has(&conf, "podman", &is_there, NULL) && !is_there);
        ck_assert(built_in && network_files_write(&conf, built_in, NULL));
        ck_assert(network_files_has(&conf, "podman", &is_there, NULL) && is_there);
        written = network_files_find(&conf, "podman", NULL);
        ck_assert(written && written->subnets->len == 1);
        all = network_files_read_all(&conf, NULL);
        ck_assert(all && all->len == 1);
        ck_assert(network_files_remove(&conf, "podman", NULL) && access(path, F_OK) < 0);
        ck_assert(network_files_remove(&conf, "podman", NULL));
}
END_TEST

/* Whether there is a file cannot be told: it is a link to itself. */
START_TEST(test_unknown_whether_there) {
        g_autofree char *message = g_strdup_printf("Cannot look for '%s': ", path);
        g_autoptr(GError) has = NULL, find = NULL, all = NULL, removal = NULL;
        bool is_there;

        ck_assert_int_eq(symlink("podman.json", path), 0);
        ck_assert(!network_files_has(&conf, "podman", &is_there, &has));
        expect_error(has, KT_ERROR_FAILED, message);
        ck_assert_ptr_null(network_files_find(&conf, "podman", &find));
        expect_error(find, KT_ERROR_FAILED, message);
        ck_assert_ptr_null(network_files_read_all(&conf, &all));
        expect_error(all, KT_ERROR_FAILED, message);
        ck_assert(!network_files_remove(&conf, "podman", &removal));
        expect_error(removal, KT_ERROR_FAILED, message);
}
END_TEST

/* What cannot be read is not what is no network. */
START_TEST(test_all_others_are_read) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) none = NULL;

        ck_assert(g_file_set_contents(path, "{", -1, NULL));
        none = network_files_read_all(&conf, NULL);
        ck_assert(none && none->len == 0);
        ck_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
        ck_assert_ptr_null(network_files_read_all(&conf, &error));
        expect_error(error, KT_ERROR_FAILED, "podman.json' is not a regular file");
}
END_TEST

/* As a power cut leaves what Podman writes: it is made again. What somebody has written stays, whatever it is; and
 * the default network, which no other file describes, as it may be an internal one. */
START_TEST(test_blank_is_none) {
        static const struct {
                const char *name;
                const char *text;
                gssize length;
                bool is_there;
        } files[] = { { "lan", "", 0, false },  { "lan", "\0\0\0", 3, false }, { "lan", "\0{\0", 3, true },
                      { "lan", "\n", 1, true }, { "podman", "", 0, true },     { "podman", "\0\0\0", 3, true } };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *file = g_strdup_printf("%s/%s.json", conf.config_dir, files[i].name);
                bool is_there;

                ck_assert(g_file_set_contents(file, files[i].text, files[i].length, NULL));
                ck_assert(network_files_has(&conf, files[i].name, &is_there, NULL));
                ck_assert_int_eq(is_there, files[i].is_there);
                ck_assert_ptr_null(network_files_find(&conf, files[i].name, NULL));
                ck_assert_int_eq(unlink(file), 0);
        }
}
END_TEST

START_TEST(test_nothing_can_be_asked) {
        const struct rlimit no_files = { 0, 0 };
        g_autoptr(GPtrArray) none = g_ptr_array_new();
        g_autoptr(GError) list = NULL, subnets = NULL, interface = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &no_files), 0);
        ck_assert_ptr_null(network_files_list(&conf, &list));
        expect_error(list, KT_ERROR_FAILED, conf.config_dir);
        ck_assert_ptr_null(network_files_used_subnets(none, &subnets));
        expect_error(subnets, KT_ERROR_FAILED, "addresses: Too many open files");
        ck_assert_ptr_null(network_files_free_interface(none, &interface));
        expect_error(interface, KT_ERROR_FAILED, "whether the machine has an interface 'podman1'");
}
END_TEST

TEST_MAIN("network-files", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_there_and_gone);
        tcase_add_test(tcase, test_unknown_whether_there);
        tcase_add_test(tcase, test_all_others_are_read);
        tcase_add_test(tcase, test_blank_is_none);
        tcase_add_test(tcase, test_nothing_can_be_asked);
})
