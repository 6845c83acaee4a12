/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/store/short-names.h"
#include "libstart/store/store-conf.h"
#include "tests/unit/store/store-builder.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *text;
        const char *stores; /* joined with " "; NULL: an error */
        unsigned n_writable;
        int code;
        const char *message;
} files[] = {
        { "", "/var/lib/containers/storage", 1 },
        { "[storage]\ndriver = \"overlay\"\nrunroot = \"/run/x\"\ngraphroot = \"/srv//images/\"\n", "/srv/images",
          1 },
        { "[storage]\ngraphroot = \"\"\ndriver = \"\"\n", "/var/lib/containers/storage", 1 },
        { "[storage]\ndriver = \"overlay2\"\n", "/var/lib/containers/storage", 1 },
        { "[storage]\ngraphroot = '/g'\n[storage.options]\n"
          "additionalimagestores = [ # comment\n  \"/a\",\n\n  '/b', # another\n]\n",
          "/g /a /b", 1 },
        { "[storage.options]\nadditionalimagestores = [ \"/var/lib/containers/storage\", \"/a\" ]\n",
          "/var/lib/containers/storage /a", 1 },
        { "[storage]\ngraphroot = \"/g\"\nimagestore = \"/i\"\n"
          "[storage.options]\nadditionalimagestores = [\"/a\"]\n",
          "/i /g /a", 2 },
        { "[storage]\ngraphroot = \"/g\"\nimagestore = \"\"\n", "/g", 1 },
        /* what Fedora ships: things that are of no interest here must not be in the way */
        { "[storage]\ndriver = \"overlay\"\ntransient_store = true\n[storage.options]\n"
          "pull_options = {enable_partial_images = \"true\", ostree_repos=\"\"}\n"
          "[storage.options.overlay]\nmountopt = \"nodev,metacopy=on\"\nmount_program = \"\"\n"
          "[storage.options.thinpool]\n"
          "size = 20\n",
          "/var/lib/containers/storage", 1 },
        { "[other]\ngraphroot = \"/no\"\n", "/var/lib/containers/storage", 1 },

        { "[storage]\ndriver = \"vfs\"\n", NULL, 0, KT_ERROR_UNSUPPORTED, "F:2: 'driver' of [storage] is 'vfs'" },
        { "[storage]\ngraphroot = \"rel\"\n", NULL, 0, KT_ERROR_FAILED,
          "F:2: 'graphroot' of [storage]: 'rel' is not an absolute path" },
        { "[storage]\ngraphroot = \"$HOME/x\"\n", NULL, 0, KT_ERROR_UNSUPPORTED, "variables are not expanded" },
        { "[storage]\ngraphroot = 1\n", NULL, 0, KT_ERROR_FAILED, "F:2: 'graphroot' of [storage] must be a string" },
        { "storage = 1\n", NULL, 0, KT_ERROR_FAILED, "F:1: 'storage' must be a table" },
        { "[storage.options]\nadditionalimagestores = \"/a\"\n", NULL, 0, KT_ERROR_FAILED, "must be an array" },
        { "[storage.options]\nadditionalimagestores = [1]\n", NULL, 0, KT_ERROR_FAILED, "must be a string" },
        { "[storage.options]\nadditionallayerstores = [\"/a:ref\"]\n", NULL, 0, KT_ERROR_UNSUPPORTED,
          "F:2: 'additionallayerstores' of [storage.options] is set" },
        { "[storage.options.overlay]\nmount_program = \"/usr/bin/fuse-overlayfs\"\n", NULL, 0, KT_ERROR_UNSUPPORTED,
          "F:2: 'mount_program' of [storage.options.overlay] is set" },
        { "[storage.options]\nmount_program = \"/usr/bin/fuse-overlayfs\"\n", NULL, 0, KT_ERROR_UNSUPPORTED,
          "is set" },
        { "[storage.options.overlay]\n\nforce_mask = \"shared\"\n", NULL, 0, KT_ERROR_UNSUPPORTED, "F:3:" },
        { "[storage]\ngraphroot = \"/a\"\ngraphroot = \"/b\"\n", NULL, 0, KT_ERROR_FAILED,
          "F:3: 'graphroot' is already defined on line 2" },
        { "[storage\n", NULL, 0, KT_ERROR_FAILED, "F:1: expected ']'" },
        { "[storage]\ngraphroot = /a\n", NULL, 0, KT_ERROR_FAILED, "F:2: expected a value" },
        { "[storage]\ngraphroot = \"/a\n", NULL, 0, KT_ERROR_FAILED, "F:2: the string is not closed on its line" },
        { "\xff", NULL, 0, KT_ERROR_FAILED, "not UTF-8" },
};

START_TEST(test_settings) {
        g_autoptr(StoreSettings) settings = store_settings_new();
        g_autoptr(GError) error = NULL;
        const char *text = files[_i].text;
        bool ok = store_settings_apply(settings, text, strlen(text), "F", &error);
        unsigned n_writable;

        if (files[_i].stores) {
                ck_assert_msg(ok, "%s", error ? error->message : "no error set");
                g_auto(GStrv) stores = store_settings_stores(settings, &n_writable);
                g_autofree char *joined = g_strjoinv(" ", stores);
                ck_assert_str_eq(joined, files[_i].stores);
                ck_assert_uint_eq(n_writable, files[_i].n_writable);
        } else {
                ck_assert_msg(!ok, "accepted: %s", text);
                ck_assert_int_eq(error->code, files[_i].code);
                ck_assert_msg(strstr(error->message, files[_i].message), "%s", error->message);
        }
}
END_TEST

static StoreBuilder *builder;

static void setup(void) {
        static const char *const stores[] = { "/store", NULL };

        unsetenv("CONTAINERS_STORAGE_CONF");
        unsetenv("CONTAINERS_STORAGE_CONF_OVERRIDE");
        unsetenv("CONTAINERS_REGISTRIES_CONF");
        unsetenv("CONTAINERS_REGISTRIES_CONF_OVERRIDE");
        builder = store_builder_new(stores);
}

static void teardown(void) {
        g_clear_pointer(&builder, store_builder_free);
}

static void remove_file(const char *path) {
        g_autofree char *full = g_strconcat(builder->root, path, NULL);

        ck_assert_int_eq(unlink(full), 0);
}

static void write_graph_root(const char *path, const char *graph_root) {
        g_autofree char *text = g_strdup_printf("[storage]\ngraphroot = \"%s\"\n", graph_root);

        store_builder_write(builder, path, text);
}

static void expect_stores(const char *expected) {
        g_autoptr(GError) error = NULL;
        g_autoptr(StoreConf) conf = store_conf_load(builder->root, NULL, &error);

        ck_assert_msg(conf, "%s", error ? error->message : "no error set");
        g_autofree char *joined = g_strjoinv(" ", conf->stores);
        g_auto(GStrv) parts = g_strsplit(joined, builder->root, -1);
        g_autofree char *without_root = g_strjoinv("", parts);
        ck_assert_str_eq(without_root, expected);
        ck_assert(g_str_has_prefix(joined, builder->root));
}

START_TEST(test_search) {
        expect_stores("/store");
        write_graph_root("usr/share/containers/storage.conf", "/vendor");
        expect_stores("/store");
        remove_file("/etc/containers/storage.conf");
        expect_stores("/vendor");
        remove_file("/usr/share/containers/storage.conf");
        expect_stores("/var/lib/containers/storage");
}
END_TEST

START_TEST(test_drop_ins) {
        write_graph_root("usr/share/containers/storage.conf.d/50-b.conf", "/vendor-b");
        expect_stores("/vendor-b");
        write_graph_root("etc/containers/storage.conf.d/50-b.conf", "/etc-b");
        expect_stores("/etc-b");
        write_graph_root("usr/share/containers/storage.rootful.conf.d/60-c.conf", "/vendor-c");
        expect_stores("/vendor-c");
        write_graph_root("etc/containers/storage.conf.d/40-a.conf", "/etc-a");
        write_graph_root("etc/containers/storage.conf.d/99-z", "/no-suffix");
        expect_stores("/vendor-c");
        store_builder_write(builder, "etc/containers/storage.conf.d/70-d.conf",
                            "[storage.options]\nadditionalimagestores = [\"/more\"]\n");
        expect_stores("/vendor-c /more");

        /* podman leaves out links */
        g_autofree char *link = g_strconcat(builder->root, "/etc/containers/storage.conf.d/80-l.conf", NULL);
        ck_assert_int_eq(symlink("40-a.conf", link), 0);
        expect_stores("/vendor-c /more");
}
END_TEST

START_TEST(test_environment) {
        g_autofree char *first = g_strconcat(builder->root, "/first.conf", NULL);
        g_autofree char *last = g_strconcat(builder->root, "/last.conf", NULL);
        g_autofree char *missing = g_strconcat(builder->root, "/missing.conf", NULL);
        g_autoptr(GError) error = NULL;

        write_graph_root("etc/containers/storage.conf.d/50.conf", "/drop-in");
        write_graph_root("first.conf", "/first");
        store_builder_write(builder, "last.conf", "[storage]\nimagestore = \"/last\"\n");
        setenv("CONTAINERS_STORAGE_CONF_OVERRIDE", last, 1);
        expect_stores("/last /drop-in");
        setenv("CONTAINERS_STORAGE_CONF", first, 1);
        expect_stores("/last /first");
        unsetenv("CONTAINERS_STORAGE_CONF_OVERRIDE");
        expect_stores("/first");

        setenv("CONTAINERS_STORAGE_CONF", missing, 1);
        ck_assert_ptr_null(store_conf_load(builder->root, NULL, &error));
        ck_assert_int_eq(error->code, KT_ERROR_NOT_FOUND);
        ck_assert_msg(strstr(error->message, "$CONTAINERS_STORAGE_CONF is '"), "%s", error->message);
}
END_TEST

/* The message says which of the files it is. */
START_TEST(test_bad_file) {
        g_autoptr(GError) error = NULL;

        store_builder_write(builder, "etc/containers/storage.conf.d/50-bad.conf", "[storage]\n\n=\n");
        ck_assert_ptr_null(store_conf_load(builder->root, NULL, &error));
        ck_assert_msg(strstr(error->message, "/etc/containers/storage.conf.d/50-bad.conf:3: expected a key"), "%s",
                      error->message);
        g_clear_error(&error);

        remove_file("/etc/containers/storage.conf");
        g_autofree char *directory = g_strconcat(builder->root, "/etc/containers/storage.conf", NULL);
        ck_assert_int_eq(g_mkdir_with_parents(directory, 0755), 0);
        ck_assert_ptr_null(store_conf_load(builder->root, NULL, &error));
        ck_assert_msg(g_str_has_suffix(error->message, "/etc/containers/storage.conf' is not a regular file"), "%s",
                      error->message);
}
END_TEST

START_TEST(test_short_names) {
        g_autoptr(GError) error = NULL;

        store_builder_write(builder, "etc/containers/registries.conf",
                            "unqualified-search-registries = [\"one.example\", \"two.example\"]\n"
                            "short-name-mode=\"enforcing\"\n[[registry]]\nlocation = \"x\"\n[[registry.mirror]]\n"
                            "location = \"y\"\n[[registry]]\nlocation = \"z\"\ninsecure = true\n"
                            "[aliases]\n\"nginx\" = \"one.example/nginx\"\n\"a/b\" = \"one.example/b\"\n");
        store_builder_write(builder, "etc/containers/registries.conf.d/10.conf",
                            "[aliases]\nredis = \"one.example/redis\"\n\"a/b\" = \"\"\n");
        store_builder_write(builder, "var/cache/containers/short-name-aliases.conf",
                            "[aliases]\n  \"nginx\" = \"chosen.example/nginx\"\n");
        g_autoptr(ShortNames) names = short_names_load(builder->root, &error);
        ck_assert_msg(names, "%s", error ? error->message : "no error set");

        g_autofree char *joined = g_strjoinv(" ", names->registries);
        ck_assert_str_eq(joined, "one.example two.example");
        ck_assert_str_eq(g_hash_table_lookup(names->aliases, "nginx"), "chosen.example/nginx");
        ck_assert_str_eq(g_hash_table_lookup(names->aliases, "redis"), "one.example/redis");
        ck_assert(!g_hash_table_contains(names->aliases, "a/b"));
}
END_TEST

/* Of a user: what she says, else what the machine says of users, else the usual place. */
START_TEST(test_users) {
        char *variables[] = { (char *) "USER=a", NULL };
        g_autoptr(GError) error = NULL;
        g_autofree char *machines = g_strconcat(builder->root, "/machines.conf", NULL);
        static const struct {
                const char *own, *machines, *stores; /* with the home left out */
        } rows[] = {
                { NULL, "", "/.local/share/containers/storage" },
                { NULL, "[storage]\ngraphroot = \"/g\"\nrootless_storage_path = \"/s/$USER\"\n", "/s/a" },
                { "", "[storage]\nrootless_storage_path = \"/s/$USER\"\n", "/s/a" },
                { "[storage]\nrootless_storage_path = \"/own\"\n", "[storage]\nrootless_storage_path = \"/s\"\n",
                  "/own" },
                { "[storage]\ngraphroot = \"/g/$USER\"\n[storage.options]\nadditionalimagestores = [\"/more\"]\n", "",
                  "/g/a /more" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                store_builder_write(builder, "machines.conf", rows[i].machines);
                setenv("CONTAINERS_STORAGE_CONF", machines, true);
                if (rows[i].own)
                        store_builder_write(builder, ".config/containers/storage.conf", rows[i].own);
                g_autoptr(StoreConf) conf = store_conf_load_users(builder->root, variables, &error);
                ck_assert_msg(conf, "%s", error ? error->message : "no error set");
                g_autofree char *joined = g_strjoinv(" ", conf->stores);
                g_auto(GStrv) parts = g_strsplit(joined, builder->root, -1);
                g_autofree char *without_home = g_strjoinv("", parts);
                ck_assert_str_eq(without_home, rows[i].stores);
        }
        store_builder_write(builder, ".config/containers/storage.conf", "[storage]\ngraphroot = \"$NOBODY\"\n");
        ck_assert_ptr_null(store_conf_load_users(builder->root, variables, &error));
        ck_assert_msg(strstr(error->message, "storage.conf:2: 'graphroot'"), "%s", error->message);
}
END_TEST

static const struct {
        const char *text;
        const char *message;
} bad_registries[] = {
        { "unqualified-search-registries = \"x\"\n", "registries.conf:1: 'unqualified-search-registries' must be" },
        { "\nunqualified-search-registries = [\n1]\n", "registries.conf:3: 'unqualified-search-registries' must be" },
        { "aliases = 1\n", "registries.conf:1: 'aliases' must be a table" },
        { "[aliases]\na = [\"b\"]\n", "registries.conf:2: an alias must be a string" },
        { "[aliases\n", "registries.conf:1: expected ']'" },
};

START_TEST(test_bad_registries) {
        g_autoptr(GError) error = NULL;

        store_builder_write(builder, "etc/containers/registries.conf", bad_registries[_i].text);
        ck_assert_ptr_null(short_names_load(builder->root, &error));
        ck_assert_int_eq(error->code, KT_ERROR_FAILED);
        ck_assert_msg(strstr(error->message, bad_registries[_i].message), "%s", error->message);
}
END_TEST

TEST_MAIN("store-conf", {
        tcase_add_loop_test(tcase, test_settings, 0, G_N_ELEMENTS(files));
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_search);
        tcase_add_test(tcase, test_drop_ins);
        tcase_add_test(tcase, test_environment);
        tcase_add_test(tcase, test_bad_file);
        tcase_add_test(tcase, test_users);
        tcase_add_test(tcase, test_short_names);
        tcase_add_loop_test(tcase, test_bad_registries, 0, G_N_ELEMENTS(bad_registries));
})
